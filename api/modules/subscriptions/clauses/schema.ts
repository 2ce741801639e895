// Wire shapes of the markups and the commitments of a schedule, by what they are limited to.
import Type, { type Static } from 'typebox'
import { Amount, DecimalText, IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'

/** Entries in one list of a schedule, and ids in one entry. */
const ENTRIES_MAX = 100

const when = { start_at: Optional(Nullable(Timestamp)), end_at: Optional(Nullable(Timestamp)) }
const Ids = (names: string) => Type.Array(IdText(names), { minItems: 1, maxItems: ENTRIES_MAX })
const list = <T extends Type.TSchema>(entry: T) => Optional(Nullable(Type.Array(entry, { maxItems: ENTRIES_MAX })))

export const MarkupShape = Shape(
  {
    pricing_item_configs: list(
      Shape(
        {
          ids: Ids('price of a pricing item'),
          ...when,
          amount: Optional(Nullable(Amount)),
          percentage: Optional(Nullable(DecimalText)),
        },
        { title: 'MarkupOnIds' },
      ),
    ),
  },
  { title: 'Markup' },
)
export type Markup = Static<typeof MarkupShape>

const OnIds = Shape({ ids: Ids('thing that the list is for'), ...when, amount: Amount }, { title: 'CommitmentOnIds' })

/** A number of units, or an amount of metered money. */
const CommittedUsage = Shape(
  { number: Optional(Nullable(DecimalText)), amount: Optional(Nullable(Amount)) },
  { title: 'MeterValueCalculationCommitment' },
)

export const CommitmentShape = Shape(
  {
    pricing_item_configs: list(
      Shape(
        {
          ids: Ids('price of a pricing item'),
          ...when,
          amount: Optional(Nullable(Amount)),
          meter_value_calculation: Optional(Nullable(CommittedUsage)),
        },
        { title: 'CommitmentOnConfigs' },
      ),
    ),
    pricing_items: list(OnIds),
    pricings: list(OnIds),
    totals: list(Shape({ ...when, amount: Amount }, { title: 'TotalCommitment' })),
  },
  { title: 'Commitment' },
)
export type Commitment = Static<typeof CommitmentShape>
