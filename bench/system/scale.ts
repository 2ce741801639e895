// How much of a fault a test makes: little in every run of the tests, all of it where a person waits for it
// (docs/fault-tests.md, "At full length").
const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)

/** Kills of the broker under load: FAULT_KILLS. */
export const BROKER_KILLS = number('FAULT_KILLS', 3)
/** How long the broker stays away after a kill at most, in milliseconds: FAULT_BROKER_AWAY_S. */
export const BROKER_AWAY_MS = 1_000 * number('FAULT_BROKER_AWAY_S', 1.5)
/** How long ClickHouse stays away, in milliseconds: FAULT_CLICKHOUSE_AWAY_S. */
export const CLICKHOUSE_AWAY_MS = 1_000 * number('FAULT_CLICKHOUSE_AWAY_S', 4)
/** How long a slow ClickHouse takes to answer, in milliseconds: FAULT_CLICKHOUSE_SLOW_S. */
export const CLICKHOUSE_SLOW_MS = 1_000 * number('FAULT_CLICKHOUSE_SLOW_S', 1)
