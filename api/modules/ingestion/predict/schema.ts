// Wire shapes of cost predictions.
import Type from 'typebox'
import { type Decimal, plain } from '../../../../shared/decimal.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { Amount, Nullable, Timestamp } from '../../../resource/shapes.ts'
import type { PredictedBalance } from '../../billing/predict/predicted-wallets.ts'
import type { Predicted } from '../../billing/predict/prediction-state.ts'
import { WalletBalanceValue } from '../../catalog/credit-types/schema.ts'
import { ratesUsed } from '../../invoices/lines/rates-used.ts'
import { UsedExchangeRate } from '../../invoices/lines/schema.ts'
import { type LineView, ViewPeriod } from '../../invoices/schema.ts'
import type { Prediction } from './predict.ts'

const WalletBeside = Type.Object(
  {
    wallet_id: Type.String(),
    wallet_balance: Type.Object(
      {
        balance: Nullable(WalletBalanceValue),
        reserved_balance: Nullable(WalletBalanceValue),
        open_balance: Nullable(WalletBalanceValue),
        balance_at: Timestamp,
      },
      { title: 'WalletBalanceStatus' },
    ),
  },
  { title: 'CustomerWalletBalanceStatus' },
)

const Details = Type.Object(
  {
    customer_id: Type.String({ description: 'Who is billed for the event: its customer, or a parent of it.' }),
    invoice_id: Nullable(Type.String({ description: 'The invoice that will have it; null when there is none yet.' })),
    amount_excluding_tax: Amount,
    amount_including_tax: Amount,
    tax_summary: Type.Object(
      { base_amount: Amount, tax_amount: Amount, total_amount: Amount },
      { title: 'InvoiceTaxTotalSummary' },
    ),
    periods: Type.Array(ViewPeriod, { description: 'The lines that change, each with what it has more or less.' }),
    pre_wallet_balance: Nullable(WalletBeside),
    post_wallet_balance: Nullable(WalletBeside),
    pre_wallet_balances: Type.Array(WalletBeside),
    post_wallet_balances: Type.Array(WalletBeside),
  },
  { title: 'CostPredictionDetails' },
)

export const CostPrediction = Type.Object(
  {
    response: Type.Enum(['OK', 'NOT_MATCHED', 'FAILED'], {
      description: 'NOT_MATCHED: nothing prices the event. FAILED: it cannot be said what it costs.',
    }),
    message: Nullable(
      Type.String({
        description:
          'Why it is NOT_MATCHED or FAILED, why it costs nothing (a repeat), or why its amounts are without tax.',
      }),
    ),
    details: Type.Array(Details),
    used_change_rates: Type.Array(UsedExchangeRate, {
      description: 'The rates by which prices in another currency were converted, each once.',
    }),
  },
  { title: 'CostPrediction' },
)

/** A prediction as the interface shows it. */
export function predictionView(prediction: Prediction, now: Instant): object {
  const details = prediction.response === 'OK' ? prediction.details : []
  return {
    response: prediction.response,
    message: prediction.message,
    details: details.map(each => detailsView(each, now)),
    used_change_rates: ratesUsed(details.flatMap(linesOf)),
  }
}

const linesOf = ({ periods }: Predicted): LineView[] =>
  periods.flatMap(({ groups }) => groups.flatMap(({ lines }) => lines))

function detailsView(
  { customerId, invoiceId, currency: _currency, wallets, ...difference }: Predicted,
  now: Instant,
): object {
  const beside = ({ walletId, unit, balance, open }: PredictedBalance) => {
    const value = (quantity: Decimal) =>
      'currency' in unit
        ? { amount: { quantity: plain(quantity), currency: unit.currency } }
        : { credits: { quantity: plain(quantity), credit_type_id: unit.creditTypeId } }
    return {
      wallet_id: walletId,
      wallet_balance: {
        balance: value(balance),
        reserved_balance: value(balance.minus(open)),
        open_balance: value(open),
        balance_at: formatInstant(now),
      },
    }
  }
  const [first] = wallets
  return {
    customer_id: customerId,
    invoice_id: invoiceId,
    ...difference,
    pre_wallet_balance: first ? beside(first.before) : null,
    post_wallet_balance: first ? beside(first.after) : null,
    pre_wallet_balances: wallets.map(({ before }) => beside(before)),
    post_wallet_balances: wallets.map(({ after }) => beside(after)),
  }
}
