// What rules of approval policies compare. The module of a source reads the facts of it; the rules know no source.

export type FactAmount = { readonly quantity: string; readonly currency: string }

/** What may differ from the platform's default. */
export const DEFAULTED = ['billing_entity', 'billing_period', 'due_date', 'payment_acceptor'] as const
export type Defaulted = (typeof DEFAULTED)[number]

/** Stored with a request as they were when it was made, so that what becomes valid is what was reviewed. Lists are in a fixed order. */
export type Facts = {
  readonly discount: { readonly percentages: readonly string[]; readonly amounts: readonly FactAmount[] }
  readonly commitments: readonly FactAmount[]
  /** Whether it has other prices than its plan. */
  readonly has_override: boolean
  /** By the id of a custom field, its values; a field without a value is absent. */
  readonly custom_fields: Readonly<Record<string, readonly string[]>>
  /** Whether each differs from the platform's default; null where the platform has none. */
  readonly is_custom: Readonly<Record<Defaulted, boolean | null>>
}
