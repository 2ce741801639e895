// What the operations of wallets and their grants do beyond their summary.

export const WALLETS_OPERATIONS: Readonly<Record<string, string>> = {
  wallet_grants_create:
    'Give `grant_amount` for a wallet of money and `grant_credits` for one of credits. The grant starts now unless `start_at` says ' +
    'otherwise, and never expires without `expire_at`, which is exclusive.',
  wallet_grants_revert:
    'What is open of the grant can no longer be spent. What is reserved or spent stays so; what is released later is taken back then.',
  wallets_balance:
    '`balance` is what was granted less what expired and what was settled; `open_balance` is the part that is not reserved. With ' +
    '`balance_at` it is that of another time, past or to come.',
  customers_wallets_balance: 'One entry for each wallet that is not ARCHIVED, in the order of their creation.',
  wallets_transactions_read:
    'Each entry moves a quantity of one grant from its debit account to its credit account and is never changed. `cause` says why.',
  wallets_forecast_read:
    'For the last 7 and the last 30 days: what was used, and when the open balance reaches zero at that rate. `ends_at` is null when ' +
    'nothing was used.',
  wallets_reservations:
    'Give `amount` or `credits`, whichever the wallet holds. Refused with 409 when less is open; nothing is reserved then. A `reference` ' +
    'reserves once for ever: a repeat is answered with the reservation that is there. Unless it is committed or released before its ' +
    '`lease` ends (10 minutes by default), it is released by itself.',
  wallets_reservations_commit:
    'Without `amount` and `credits` all of it is spent. Refused with 409 once the reservation was released or its lease has ended.',
  wallets_reservations_release: 'Refused with 409 once the reservation was committed.',
  wallets_reservations_get: 'It is found by its id or its `reference`.',
}
