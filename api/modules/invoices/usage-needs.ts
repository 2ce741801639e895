// Which usage an invoice needs, listed before it is built, so that building it is pure.
import type { Decimal } from '../../../shared/decimal.ts'
import type { Interval } from '../../../shared/time.ts'
import type { CalculationInput } from './billing-inputs.ts'
import type { Charge } from './charges.ts'

export type UsageNeed = { readonly key: string; readonly calculation: CalculationInput; readonly interval: Interval }

/** One quantity a currency; `currency` is null for plain numbers. None when no event matched. */
export type UsageFigure = { readonly currency: string | null; readonly number: Decimal; readonly count: number }
export type UsageFigures = ReadonlyMap<string, readonly UsageFigure[]>

export const needKey = (calculation: CalculationInput, { start, end }: Interval): string =>
  `${calculation.id} ${start} ${end}`

/** The usage of these charges, each figure once. */
export function usageNeeds(charges: readonly Charge[]): UsageNeed[] {
  const needs = new Map<string, UsageNeed>()
  for (const { calculation, usage, charged } of charges) {
    if (!calculation) continue
    for (const interval of [usage, charged]) {
      if (!interval) continue
      const key = needKey(calculation, interval)
      needs.set(key, { key, calculation, interval })
    }
  }
  return [...needs.values()]
}
