package filters

// Bypass is set, to true, for an exchange whose client need neither prove who it is
// nor keep to limits. Filters of authentication and limits that find it let the
// exchange pass. It is ip_list that sets it.
var Bypass = NewSlot[bool]()
