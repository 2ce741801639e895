// The usage that a schedule includes in a price, instead of what the price does. Pure.
import type { Span } from '../../../../shared/billing/periods.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { type IncludedSpan, includedSpans } from '../../subscriptions/included-volumes/included-spans.ts'
import type { ConfigInput, ScheduleInput } from './billing-inputs.ts'

type Included = { readonly config: ConfigInput; readonly included: readonly IncludedSpan[] | null }

/**
 * The price, granted again as the schedule says, and what is included of it over time; null where the schedule states nothing. What the
 * price includes by itself holds at the times for which the schedule states nothing.
 */
export function includedOf(schedule: ScheduleInput, config: ConfigInput, during: Span): Included {
  const entries = (schedule.included_volumes ?? []).filter(each => each.pricing_item_config_id === config.id)
  const [first] = entries
  if (!first) return { config, included: null }
  const byDefault = config.default_included_volume ?? null
  const some = byDefault ?? entries.find(isSomething)
  // Nothing at any time.
  if (!some) return { config, included: null }
  const { number, amount, count } = some
  const reset_type = entries.find(entry => entry.reset_type)?.reset_type ?? byDefault?.reset_type ?? 'BILLING_PERIOD'
  return {
    config: { ...config, default_included_volume: { number, amount, count, reset_type } },
    included: includedSpans(entries, byDefault, during),
  }
}

const isSomething = ({ number, amount, count }: NonNullable<ScheduleInput['included_volumes']>[number]): boolean =>
  [number, amount?.quantity, count].some(text => text && decimal(text).gt(ZERO))
