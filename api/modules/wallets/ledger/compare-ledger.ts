// Checks that the ledger of wallets adds up: all accounts sum to zero, and each is the sum of its entries. Only reads;
// never repairs.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../shared/database/database.ts'

export type LedgerComparison = {
  readonly grants: number
  readonly entries: number
  /** The sum over every account of every grant: `0`, unless the ledger has created or lost value. */
  readonly sum: string
  /** Descriptions of grants whose accounts differ from the sum of their entries; at most 100. */
  readonly differences: readonly string[]
}

const SHOWN_MAX = 100
const SNAPSHOT = { accessMode: 'read only', isolationLevel: 'repeatable read' } as const

/** Checks every wallet of every tenant, in one snapshot. `system` has the role millrace_worker. */
export const compareLedger = (system: Database): Promise<LedgerComparison> =>
  asSystem(
    system,
    'compare-wallet-ledger',
    async tx => {
      const { rows: totals } = await tx.execute<{ grants: string; entries: string; sum: string }>(sql`
        select count(*)::text as grants, (select count(*)::text from wallet_entries) as entries,
          trim_scale(coalesce(sum(funding + open + reserved + spent + expired + reverted), 0))::text as sum
        from wallet_grant_accounts`)
      const { rows } = await tx.execute<{ difference: string }>(sql`
        with sides as (
          select platform_id, environment, grant_id, credit_account as account, quantity as moved from wallet_entries
          union all
          select platform_id, environment, grant_id, debit_account, -quantity from wallet_entries
        ), sums as (
          select platform_id, environment, grant_id, account, sum(moved) as moved from sides group by 1, 2, 3, 4
        ), kept as (
          select a.platform_id, a.environment, a.grant_id, k.account, k.kept from wallet_grant_accounts a,
            lateral (values ('FUNDING', funding), ('OPEN', open), ('RESERVED', reserved), ('SPENT', spent), ('EXPIRED', expired),
              ('REVERTED', reverted)) as k (account, kept)
        )
        select coalesce(k.platform_id, s.platform_id) || ' ' || coalesce(k.environment, s.environment) || ' grant '
          || coalesce(k.grant_id, s.grant_id) || ' ' || coalesce(k.account, s.account) || ': '
          || trim_scale(coalesce(k.kept, 0)) || ', and its entries add up to ' || trim_scale(coalesce(s.moved, 0)) as difference
        from kept k full join sums s using (platform_id, environment, grant_id, account)
        where coalesce(k.kept, 0) <> coalesce(s.moved, 0)
        order by 1 limit ${SHOWN_MAX}`)
      const [total] = totals
      return {
        grants: Number(total?.grants ?? 0),
        entries: Number(total?.entries ?? 0),
        sum: total?.sum ?? '0',
        differences: rows.map(({ difference }) => difference),
      }
    },
    SNAPSHOT,
  )
