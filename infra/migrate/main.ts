// npm run migrate: brings the databases to the schema of this build, where npm start does not. DATABASE_URL is the owner's.
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { prepareJobSchema } from '../../api/jobs/job-schema.ts'
import { loadConfig } from '../../shared/config/config.ts'
import { migrate } from '../../shared/database/migrate.ts'

const config = loadConfig(process.env, ['DATABASE_URL', 'CLICKHOUSE_URL', 'CLICKHOUSE_DATABASE'])

async function main(): Promise<void> {
  const applied = await migrate(config.DATABASE_URL)
  await prepareJobSchema(config.DATABASE_URL)
  await migrateClickHouse(config.CLICKHOUSE_URL, config.CLICKHOUSE_DATABASE)
  console.log(applied.length === 0 ? 'Nothing to migrate' : `Migrated: ${applied.join(', ')}`)
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
