// What an event or a customer says about which of several subscriptions is meant (semantics 1.3). Pure, and shared by the
// gateway that checks it, the billing that acts on it, and the view that shows it again.

export const SELECTOR_FIELDS = ['BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY', 'PRICING_PLAN_REFERENCE'] as const
/** Comparators of texts: both fields are texts, so "greater than" would mean nothing. */
export const SELECTOR_COMPARATORS = [
  'EQUALS',
  'NOT_EQUALS',
  'IN',
  'NOT_IN',
  'CONTAINS',
  'NOT_CONTAINS',
  'EMPTY',
  'NOT_EMPTY',
] as const
export const SELECTOR_FALLBACKS = ['LATEST', 'NONE'] as const
/** Entries in each list of a selector. */
export const SELECTOR_ENTRIES_MAX = 10

export type SelectorField = (typeof SELECTOR_FIELDS)[number]
export type SelectorComparator = (typeof SELECTOR_COMPARATORS)[number]

/** A fact given with an event. */
export type SelectorData = { readonly field: SelectorField; readonly value: string }
/** Compares a field of the subscription with the data of the same field. */
export type SelectorRule = { readonly field: SelectorField; readonly type: SelectorComparator }
/** Compares a field of the subscription with a constant; `value` is null for EMPTY and NOT_EMPTY. */
export type SelectorFilter = SelectorRule & { readonly value: string | null }

export type Selector = {
  readonly data: readonly SelectorData[]
  readonly rules: readonly SelectorRule[]
  readonly filters: readonly SelectorFilter[]
  /** What happens when no subscription passes. */
  readonly fallback: (typeof SELECTOR_FALLBACKS)[number]
}

/** Whether a comparator looks at the subscription's field alone. */
export const takesNoValue = (type: SelectorComparator): boolean => type === 'EMPTY' || type === 'NOT_EMPTY'

/** Which subscription an event names. */
export type NamedSubscription =
  | { readonly kind: 'NONE' }
  | { readonly kind: 'ID'; readonly id: string }
  | { readonly kind: 'REFERENCE'; readonly reference: string }
  | { readonly kind: 'SELECTOR'; readonly selector: Selector }

const ID = 'id:'
const REFERENCE = 'ref:'
/** How the text of an event that carries a selector starts. */
export const SELECTOR_KEY = 'sel:'

/**
 * The one text of the subscription that an event names, as the usage log and usage_events hold it: '' for nothing, `id:…`, `ref:…`, or
 * `sel:` and canonical JSON. What means the same has the same text: all entries of a selector must hold, so their order and
 * repetitions mean nothing and are not kept.
 */
export function subscriptionKey(asked: NamedSubscription): string {
  switch (asked.kind) {
    case 'NONE':
      return ''
    case 'ID':
      return `${ID}${asked.id}`
    case 'REFERENCE':
      return `${REFERENCE}${asked.reference}`
    case 'SELECTOR':
      return `${SELECTOR_KEY}${selectorJson(asked.selector)}`
  }
}

/** A selector as canonical JSON, in its wire shape; empty lists are left out. */
export function selectorJson({ data, rules, filters, fallback }: Selector): string {
  const lists = [
    ...listJson('data', data, ({ field, value }) => ({ field, value })),
    ...listJson('rules', rules, ({ field, type }) => ({ field, type })),
    ...listJson('filters', filters, ({ field, type, value }) =>
      value === null ? { field, type } : { field, type, value },
    ),
  ]
  return `{${[...lists, `"fallback":"${fallback}"`].join(',')}}`
}

function listJson<T>(name: string, entries: readonly T[], canonical: (entry: T) => object): string[] {
  if (entries.length === 0) return []
  const texts = new Set(entries.map(entry => JSON.stringify(canonical(entry))))
  return [`"${name}":[${[...texts].sort().join(',')}]`]
}

/** What a text of `subscriptionKey` says. Throws on any other text: nothing else is ever stored. */
export function namedSubscription(key: string): NamedSubscription {
  if (key === '') return { kind: 'NONE' }
  if (key.startsWith(ID)) return { kind: 'ID', id: key.slice(ID.length) }
  if (key.startsWith(REFERENCE)) return { kind: 'REFERENCE', reference: key.slice(REFERENCE.length) }
  if (!key.startsWith(SELECTOR_KEY)) throw new Error(`not the text of a subscription: ${key.slice(0, 40)}`)
  return { kind: 'SELECTOR', selector: selectorOf(JSON.parse(key.slice(SELECTOR_KEY.length))) }
}

/** As events and customers carry it on the wire. */
export type WireSelector = {
  readonly data?: readonly SelectorData[] | null | undefined
  readonly rules?: readonly SelectorRule[] | null | undefined
  readonly filters?:
    | readonly { field: SelectorField; type: SelectorComparator; value?: string | null }[]
    | null
    | undefined
  readonly fallback?: Selector['fallback'] | null | undefined
}

/** A selector from its checked wire shape. */
export const selectorOf = ({ data, rules, filters, fallback }: WireSelector): Selector => ({
  data: data ?? [],
  rules: rules ?? [],
  filters: (filters ?? []).map(({ field, type, value }) => ({ field, type, value: value ?? null })),
  fallback: fallback ?? 'LATEST',
})
