// The wire shape of a subscription selector, as events and customers carry it (semantics 1.3).
import Type from 'typebox'
import {
  SELECTOR_COMPARATORS,
  SELECTOR_ENTRIES_MAX,
  SELECTOR_FALLBACKS,
  SELECTOR_FIELDS,
} from '../../shared/attribution/selector.ts'
import { Nullable, Optional, Shape } from './shapes.ts'

const Field = Type.Enum([...SELECTOR_FIELDS])
const Comparator = Type.Enum([...SELECTOR_COMPARATORS])
const Value = Type.String({ minLength: 1, maxLength: 255 })
const List = <T extends Type.TSchema>(entry: T, description: string) =>
  Optional(Nullable(Type.Array(entry, { maxItems: SELECTOR_ENTRIES_MAX, description })))

export const SelectorShape = Shape(
  {
    data: List(
      Shape({ field: Field, value: Value }, { title: 'SelectorFact' }),
      'Facts to compare the fields of subscriptions with.',
    ),
    rules: List(
      Shape({ field: Field, type: Comparator }, { title: 'SelectorRule' }),
      'Tests of a field against the data of the same field.',
    ),
    filters: List(
      Shape({ field: Field, type: Comparator, value: Optional(Nullable(Value)) }, { title: 'SelectorFilter' }),
      'Tests of a field against a constant.',
    ),
    fallback: Optional(
      Nullable(
        Type.Enum([...SELECTOR_FALLBACKS], {
          description: 'When no subscription passes: the latest one (the default), or none.',
        }),
      ),
    ),
  },
  { title: 'SubscriptionSelector' },
)
