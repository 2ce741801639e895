// The usage of simulated years, answered from their stories: for a year that is not about how events come.
import { decimal } from '../../../../../../shared/decimal.ts'
import type { UsageReader } from '../../../usage/usage-reader.ts'
import { NO_USAGE } from '../../no-usage.ts'
import type { Story } from '../story.ts'
import type { LiveUsage } from './live-year.ts'

export type UsageInMemory = LiveUsage & {
  readonly reader: UsageReader
  /** Of stories that begin from now on, every second usage comes only when it is released. */
  hold(): void
  release(): void
}

/** Usage that is there in time, by the calculation that counts it. */
export function usageInMemory(): UsageInMemory {
  const stories = new Map<string, Story>()
  const held = new Set<string>()
  let holds = false
  /** Of the log: how often usage was released. */
  let position = 0
  return {
    stepsOf: ({ story, catalog }) => {
      stories.set(catalog.calculation, story)
      if (holds) held.add(catalog.calculation)
      return []
    },
    hold: () => {
      holds = true
    },
    release: () => {
      holds = false
      held.clear()
      position += 1
    },
    reader: {
      ...NO_USAGE,
      positions: async () => [position],
      changedSince: async (_tenant, questions) =>
        questions.map(({ pieces }) => pieces.map(({ positions: [before = 0] }) => before < position)),
      read: async (_tenant, _parts, { calculation, interval }) => {
        const own = (stories.get(calculation.id)?.usage ?? []).filter(
          ({ time }, place) =>
            interval.start <= time && time < interval.end && !(held.has(calculation.id) && place % 2 === 1),
        )
        if (own.length === 0) return []
        const total = own.reduce((sum, { versions: [first] }) => sum + (first?.quantity ?? 0), 0)
        return [{ currency: null, number: decimal(String(total)), count: own.length }]
      },
    },
  }
}
