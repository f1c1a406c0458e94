package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const verifyTimeout = 5 * time.Second

// addedFields must reach the origin through every proxy: equal work.
var addedFields = []string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: "}

// verify asks a proxy for each size and for the request as the origin saw it.
func verify(ctx context.Context, address string, sizes []int) error {
	for _, size := range sizes {
		body, err := fetch(ctx, "http://"+address+"/"+strconv.Itoa(size))
		if err != nil {
			return err
		}
		if len(body) != size {
			return fmt.Errorf("asked for %d bytes, got %d", size, len(body))
		}
	}
	head, err := fetch(ctx, "http://"+address+"/echo")
	if err != nil {
		return err
	}
	for _, field := range addedFields {
		if !bytes.Contains(bytes.ToLower(head), bytes.ToLower([]byte("\r\n"+field))) {
			return fmt.Errorf("the origin did not get %q:\n%s", field, head)
		}
	}
	return nil
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answered %s: %s", url, res.Status, body)
	}
	return body, err
}
