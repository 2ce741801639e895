// The usage of simulated years, answered from their stories: for a year that is not about how events come.
import { decimal } from '../../../../../../shared/decimal.ts'
import type { UsageReader } from '../../../usage/usage-reader.ts'
import { NO_USAGE } from '../../no-usage.ts'
import type { Story } from '../story.ts'
import type { LiveUsage } from './live-year.ts'

/** Usage that is there in time, by the calculation that counts it. */
export function usageInMemory(): LiveUsage & { readonly reader: UsageReader } {
  const stories = new Map<string, Story>()
  return {
    stepsOf: ({ story, catalog }) => {
      stories.set(catalog.calculation, story)
      return []
    },
    reader: {
      ...NO_USAGE,
      read: async (_tenant, _parts, { calculation, interval }) => {
        const own = (stories.get(calculation.id)?.usage ?? []).filter(
          ({ time }) => interval.start <= time && time < interval.end,
        )
        if (own.length === 0) return []
        const total = own.reduce((sum, { versions: [first] }) => sum + (first?.quantity ?? 0), 0)
        return [{ currency: null, number: decimal(String(total)), count: own.length }]
      },
    },
  }
}
