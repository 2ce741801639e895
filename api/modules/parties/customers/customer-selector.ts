// The selector of a customer: its form, beyond its shape.
import { selectorJson, selectorOf, takesNoValue, type WireSelector } from '../../../../shared/attribution/selector.ts'
import { AppError } from '../../../../shared/errors.ts'

const FIELD = 'pricing_plan_subscription_selector'

/** The one form of what means the same. */
export const canonicalSelector = (selector: WireSelector | null): WireSelector | null =>
  selector ? (JSON.parse(selectorJson(selectorOf(selector))) as WireSelector) : null

/** Throws INVALID_FIELD or MISSING_FIELD for a filter whose comparator and value do not go together. */
export function checkSelector(selector: WireSelector | null): void {
  for (const [index, { type, value }] of (selector?.filters ?? []).entries()) {
    const given = value !== null && value !== undefined
    if (takesNoValue(type) !== given) continue
    const message = given ? `${type} takes no value.` : `${type} compares with a value.`
    throw new AppError(given ? 'INVALID_FIELD' : 'MISSING_FIELD', message, { field: `${FIELD}.filters.${index}.value` })
  }
}
