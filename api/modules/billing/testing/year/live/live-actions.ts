// What happens in a simulated year, sent as requests.
import { succeed } from '../../../../../testing/calls.ts'
import type { Action } from '../story.ts'
import {
  addSchedule,
  enabledAfter,
  newCustomer,
  type Sale,
  SCHEDULES,
  SUBSCRIPTIONS,
  termsAt,
  text,
} from './live-schedules.ts'

/** A subscription, with the names of its things in the story by their ids. */
export type Sold = { readonly subscriptionId: string; readonly names: Map<string, string> }

/** Sends what the story says at this time. */
export async function doAction(action: Action, of: Sale & { readonly sold: Sold }): Promise<void> {
  const { tenant, story, catalog, sold } = of
  const { subscriptionId, names } = sold
  const url = `${SUBSCRIPTIONS}/${subscriptionId}`
  const on = (call: string, body: object) => succeed(tenant, 'POST', `${url}/${call}`, body)
  const start = (moment: number) => (moment > action.at ? { start_at: text(moment) } : {})
  switch (action.type) {
    case 'PLAN': {
      const place = [...names.values()].filter(name => name.startsWith('schedule')).length
      if (action.refund) {
        const { id } = await on('change-plan', { pricing_plan_id: catalog.sold[action.plan]?.plan })
        names.set(id, `schedule${place}`)
        await succeed(tenant, 'PATCH', `${SCHEDULES}/${id}`, await termsAt(of, place))
        return
      }
      const more = { realign_invoice_date_to_pricing_plan_schedule_start_at: action.realign }
      const at = { subscription: subscriptionId, place, plan: action.plan, start: action.starts ?? action.at, more }
      const id = await addSchedule(of, { ...at, query: '?set_previous_end_at=true' })
      names.set(id, `schedule${place}`)
      if (action.starts === undefined) await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)
      return
    }
    case 'ACTIVATE': {
      // The last one that was made.
      const [id] = [...names].findLast(([, name]) => name.startsWith('schedule')) ?? []
      await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)
      return
    }
    case 'CANCEL': {
      const dated = action.when > action.at ? { type: 'DATE', cancel_at: text(action.when) } : { type: 'NOW' }
      const when = action.next ? { type: 'NEXT_BILLING_PERIOD' } : dated
      await on('cancel', { ...when, refund_advance_charges: action.refund })
      return
    }
    case 'TERM':
      if (action.cancelled) await on('cancel', { type: 'AFTER_INITIAL_TERM' })
      else await succeed(tenant, 'PATCH', url, { auto_renewal: false })
      return
    case 'UNDO': {
      const said = story.actions.findLast(({ at, type }) => at <= action.at && (type === 'TERM' || type === 'CANCEL'))
      if (said?.type === 'TERM' && !said.cancelled) await succeed(tenant, 'PATCH', url, { auto_renewal: true })
      else await on('cancel', { type: 'UNDO' })
      return
    }
    case 'PAUSE':
      await on('pause', { ...start(action.start), end_at: text(action.end) })
      return
    case 'RESUME':
      await on('resume', {})
      return
    case 'ADDON': {
      const now = enabledAfter(of, action)
      if (now === null) return
      const [id] = [...names].find(([, name]) => name === now.phase) ?? []
      await succeed(tenant, 'PATCH', `${SCHEDULES}/${id}`, { enabled_pricings: now.enabled_pricings })
      return
    }
    case 'SEAT': {
      const occupant = await newCustomer(tenant)
      const { start: from, end } = action.seat
      await succeed(tenant, 'POST', '/v1/seat-assignments', {
        pricing_plan_subscription_id: subscriptionId,
        product_item_id: catalog.seatItem.item,
        customer_id: occupant['id'],
        start_at: text(from),
        ...(end === null ? {} : { end_at: text(end) }),
      })
    }
  }
}
