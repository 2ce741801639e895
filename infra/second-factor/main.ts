// npm run reset-second-factor: takes the second factor of a user away who lost it. Ends with 0 when it is gone, 1 when nothing
// was done, 2 when it could not be found out.
import { parseArgs } from 'node:util'
import {
  type Account,
  findAccount,
  REASON_CHARACTERS_MAX,
  type ResetOutcome,
  resetByOperator,
} from '../../identity/second-factor/operator-reset.ts'
import { type Database, openDatabase } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { systemClock } from '../../shared/time.ts'
import { roleUrlOf } from '../start/role-url.ts'

const HELP = `npm run reset-second-factor -- <e-mail> [--reason "<text>"]

Shows which platforms the account opens and which factors it has. With --reason it removes the authenticator app, the
passkeys and the recovery codes and ends every session. The user gets a mail, and the audit trail of each of those
platforms gets the reason. First make sure, by a way you trust, that it is the user who asks.

Reads DATABASE_URL (of the login millrace_identity), or looks where npm start runs PostgreSQL (DATA_DIR, PORT_BASE).`

const ROLE = 'millrace_identity'
const REFUSED: Readonly<Record<Exclude<ResetOutcome, 'DONE'>, string>> = {
  NOT_ACTIVE: 'The user is not ACTIVE. Nothing was done.',
  NO_FACTOR: 'The user has no second factor. Nothing was done.',
  SHORT_PASSWORD:
    'The password of the user has fewer than 15 characters, too few to protect the account alone. Nothing was done. Have the user choose a longer one by “Forgot your password?” on the sign-in page, and run this again.',
}

const describe = ({ username, places, authenticators, passkeys }: Account): string =>
  [
    `${username} has ${authenticators} authenticator apps and ${passkeys} passkeys, and is a member of:`,
    ...places.map(
      ({ platformName, environment, status }) =>
        `  ${platformName}, ${environment}${status === 'INACTIVE' ? ' (deactivated)' : ''}`,
    ),
  ].join('\n')

async function reset(database: Database, email: string, reason: string | undefined): Promise<number> {
  const account = await findAccount(database, email)
  if (!account) {
    console.log(`No user has the e-mail address ${email}.`)
    return 1
  }
  console.log(describe(account))
  if (reason === undefined) {
    console.log('Nothing was done. To remove the factors, run this again with --reason.')
    return 1
  }
  const outcome = await resetByOperator(database, { userId: account.userId, reason })
  console.log(outcome === 'DONE' ? 'The second factor is removed and every session ended.' : REFUSED[outcome])
  return outcome === 'DONE' ? 0 : 1
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { reason: { type: 'string' }, help: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const [email, ...more] = positionals
  if (values.help) {
    console.log(HELP)
    return 0
  }
  if (email === undefined || more.length > 0) throw new Error(HELP)
  const reason = values.reason?.trim()
  if (reason === '' || (reason?.length ?? 0) > REASON_CHARACTERS_MAX)
    throw new Error(`--reason must be 1 to ${REASON_CHARACTERS_MAX} characters: the audit trail keeps it.`)
  const database = await openDatabase({
    url: roleUrlOf(process.env, ROLE),
    role: ROLE,
    clock: systemClock,
    logger: silentLogger,
    poolMax: 1,
  })
  try {
    return await reset(database, email, reason)
  } finally {
    await database.close()
  }
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  },
)
