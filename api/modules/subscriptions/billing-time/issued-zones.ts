// Where subscriptions learn of the time zones of their issued invoices: the module of billing, which is above this one, registers it here.
import type { Zone } from '../../../../shared/billing/local-days.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Place } from '../../../resource/rules.ts'

/** A time zone of issued invoices, and the cutoff of the last one in it. */
export type IssuedZone = { readonly timezone: string; readonly cutoff_at: string }

/** A subscription, and the zone that its parties have now. */
export type ZonedSubscription = readonly [subscriptionId: string, zone: Zone]

/**
 * By subscription, each zone that its issued invoices were in before they were in that of now, in the order of time. A subscription whose
 * invoices were in no other zone is absent.
 */
export type IssuedZones = (
  uow: ReadUow,
  all: readonly ZonedSubscription[],
) => Promise<ReadonlyMap<string, IssuedZone[]>>

export const ISSUED_ZONES: Place<IssuedZones> = { name: 'issued zones' }
