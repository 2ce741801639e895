// Wire shapes of simulations: the simulation with its progress and result, and each customer's difference.
import Type, { type Static } from 'typebox'
import { LINE_KINDS } from '../../../../shared/billing/steps/line.ts'
import { Amount, Currency, DecimalText, IdText, Nullable, Timestamp } from '../../../resource/shapes.ts'

const OUTCOME_TEXTS = ['WINNER', 'LOSER', 'UNCHANGED'] as const
const Difference = {
  amount: Amount,
  simulated_amount: Amount,
  difference: Amount,
}

const SimulationResult = Type.Object(
  {
    number_of_customers: Type.Integer({ description: 'How many have a closed period on the plan.' }),
    number_of_winners: Type.Integer({ description: 'How many would have paid less.' }),
    number_of_losers: Type.Integer({ description: 'How many would have paid more.' }),
    number_of_unchanged: Type.Integer({ description: 'How many would have paid the same.' }),
    number_of_failed: Type.Integer({ description: 'How many could not be rated by the version; see their messages.' }),
    totals: Type.Array(
      Type.Object(
        {
          currency: Currency,
          ...Difference,
          change_percentage: Nullable(
            Type.String({ description: 'The difference in percent of the amount. Null when nothing was billed.' }),
          ),
        },
        { title: 'SimulationTotal' },
      ),
      { description: 'Of all customers, for each currency. Amounts are before tax.' },
    ),
    breaches: Type.Array(
      Type.Object(
        {
          limit: Type.Enum(['max_revenue_change', 'max_customer_increase', 'number_of_failed'], {
            description: 'The limit that does not hold. With any limit, every customer must be rated.',
          }),
          message: Type.String({ description: 'By how much.' }),
        },
        { title: 'SimulationBreach' },
      ),
      { description: 'Why it is FAILED. Empty when every limit holds.' },
    ),
  },
  { title: 'SimulationResult', description: 'What it found, once it is DONE or FAILED.' },
)
export type SimulationResult = Static<typeof SimulationResult>

export const SimulationView = Type.Object(
  {
    object_type: Type.Literal('PRICING_PLAN_VERSION_SIMULATION'),
    id: IdText('simulation'),
    pricing_plan_id: IdText('pricing plan'),
    pricing_plan_version_id: Nullable(IdText('pricing plan version')),
    catalog_reference: Nullable(
      Type.String({ description: 'The version of a catalog file that it was planned with, such as `standard@2`.' }),
    ),
    periods: Type.Integer({ description: 'How many closed periods of each subscription are rated.' }),
    max_revenue_change: Nullable(DecimalText),
    max_customer_increase: Nullable(DecimalText),
    status: Type.Enum(['SCHEDULED', 'IN_PROGRESS', 'DONE', 'FAILED', 'CANCELLED', 'ERROR'], {
      description: 'FAILED: a limit does not hold. ERROR: it could not be carried out.',
    }),
    percentage: Type.Integer({ description: 'The percentage of the customers that have been rated.' }),
    message: Nullable(Type.String({ description: 'Why it is in ERROR.' })),
    result: Nullable(SimulationResult),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { title: 'PricingPlanVersionSimulation' },
)

const SimulatedLine = Type.Object(
  {
    type: Type.Enum([...LINE_KINDS], { description: 'What kind of line it is.' }),
    product_item_id: Nullable(IdText('product item')),
    name: Nullable(Type.String({ description: 'The name of the product item.' })),
    ...Difference,
  },
  { title: 'SimulatedLine' },
)
const SimulatedInvoice = Type.Object(
  {
    invoice_id: IdText('invoice'),
    period_start: Timestamp,
    period_end: Timestamp,
    ...Difference,
    lines: Type.Array(SimulatedLine, {
      description: 'What was billed and what would have been, by kind and product item; without what wallets paid.',
    }),
  },
  { title: 'SimulatedInvoice' },
)
export type SimulatedInvoice = Static<typeof SimulatedInvoice>

export const SimulatedCustomerView = Type.Object(
  {
    object_type: Type.Literal('SIMULATED_CUSTOMER'),
    id: Type.String(),
    customer_id: IdText('customer'),
    currency: Currency,
    status: Type.Enum(['SCHEDULED', 'DONE', 'ERROR']),
    outcome: Nullable(Type.Enum([...OUTCOME_TEXTS], { description: 'A WINNER would have paid less, a LOSER more.' })),
    amount: Nullable(Amount),
    simulated_amount: Nullable(Amount),
    difference: Nullable(Amount),
    message: Nullable(Type.String({ description: 'Why the customer could not be rated by the version.' })),
    invoices: Nullable(Type.Array(SimulatedInvoice, { description: 'The invoices of the simulated periods.' })),
  },
  { title: 'SimulatedCustomer' },
)
