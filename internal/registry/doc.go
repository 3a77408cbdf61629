// Package registry keeps the register of entities that the regulator has let
// in, and the accounts of the people who speak for them or work for the
// regulator.
//
// A telco enters through [Registry.Onboard], the bypass for those whom the
// regulator has approved beforehand: it is Approved from its first moment. The
// entity, its admin and the audit entry are written in one transaction; either
// all are there or none is.
//
// E-mail addresses and phone numbers are unique over all accounts of the
// system, of whatever kind, because both can lead to an account.
package registry
