// Package registry keeps the register of entities that the regulator has
// admitted, and the accounts of the people who work for them or for the
// regulator.
//
// A telco enters through [Registry.Onboard], the bypass for entities that the
// regulator has approved beforehand: it is Approved as soon as it is stored. The
// entity, its admin and the audit entry are written in one transaction, all or
// none.
//
// E-mail addresses and phone numbers are unique across all accounts of any kind,
// because either can identify an account.
package registry
