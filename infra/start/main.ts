// `npm start`: services, migrations, processes; then it stays until Ctrl-C, and the first time shows a demo. With --exit it stops
// after the demo.

import { stopOrphan } from '../../shared/process/pid-file.ts'
import { systemClock } from '../../shared/time.ts'
import { readDemoRecord, writeDemoRecord } from '../demo/demo-record.ts'
import { runDemo } from '../demo/run-demo.ts'
import { assertPortsFree } from '../services/child.ts'
import { type Accounts, type Addresses, findOrCreateAccounts, writeCredentials } from './accounts.ts'
import { lockDataDir } from './lock.ts'
import { pidFileOf, portsOf, processesWith, processUnit } from './processes.ts'
import { refuseUnfinished } from './refuse-unfinished.ts'
import { hasRoom } from './room.ts'
import { say } from './screen.ts'
import { migrateAll, startServices } from './services.ts'
import { readSettings, type Settings } from './settings.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

/** What a killed start left running is ended first, front to back, so that nothing writes while services restart. */
async function stopLeftOvers(settings: Settings): Promise<void> {
  for (const { name } of processesWith().toReversed())
    if (await stopOrphan(pidFileOf(settings.dataDir, name)))
      say(`Ended ${name}, left running by a start that was killed`)
}

/** Everything up to the point where every process is ready and credentials.json is written. */
async function startEverything(settings: Settings, supervisor: Supervisor): Promise<Accounts> {
  await stopLeftOvers(settings)
  const processes = processesWith(settings.workers)
  // Said before anything is started: the services take their time.
  await assertPortsFree(processes.map(spec => portsOf(settings, spec)))
  const services = await startServices(settings, supervisor, say)
  await migrateAll(settings, services, say)
  const accounts = await findOrCreateAccounts(services.databaseUrl, settings.dataDir)
  say(`Starting ${processes.map(({ name }) => name).join(', ')}`)
  await supervisor.start(processes.map(spec => processUnit(settings, services, spec)))
  const file = writeCredentials(settings.dataDir, settings.addresses, accounts)
  say(`All ready; keys and the demo user are in ${file}`)
  return accounts
}

/** Runs the demo and records what it printed. Throws at the first step that does not do what it should. */
async function demonstrate({ dataDir, addresses }: Settings, { platforms }: Accounts): Promise<void> {
  const lines: string[] = []
  const log = (line: string): void => {
    lines.push(line)
    say(line)
  }
  await runDemo({ baseUrl: addresses.base_url, platforms, clock: systemClock, log })
  const finishedAt = new Date(systemClock.now()).toISOString()
  writeDemoRecord(dataDir, { platformIds: platforms.map(({ id }) => id), finishedAt, lines })
}

/** The demo once; at a later start what it printed. Its failure is shown, and decides nothing: the processes run. */
async function showDemo(settings: Settings, accounts: Accounts): Promise<void> {
  const record = readDemoRecord(settings.dataDir)
  const ids = new Set(accounts.platforms.map(({ id }) => id))
  if (record?.platformIds.every(id => ids.has(id))) {
    say([`The demo ran on ${record.finishedAt}:`, ...record.lines].join('\n'))
    return
  }
  try {
    await demonstrate(settings, accounts)
  } catch (error) {
    say(
      `The demo did not finish: ${messageOf(error)}\nEverything runs all the same; the next start runs the demo again.`,
    )
  }
}

function showAddresses({ base_url, identity_url, ingest_url, console_url }: Addresses): void {
  say(
    [
      'Open',
      `${ingest_url}  the gateway, for heavy senders`,
      `${identity_url}  the identity host`,
      `${console_url}  the console`,
      `${base_url}  the whole interface; its description is at ${base_url}/v1/docs`,
    ].join('\n'),
  )
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Resolves at the first signal to stop; a second one ends the process at once, whatever still runs. */
function untilSignal(): Promise<'signal'> {
  return new Promise(resolve => {
    let asked = false
    const onSignal = () => {
      if (asked) {
        say('Asked twice: leaving now. What still runs is ended by the next start.')
        process.exit(130)
      }
      asked = true
      resolve('signal')
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
}

/** What `npm start` does once everything runs. With --exit the demo is the purpose, so its failure is that of the command. */
async function stay(
  settings: Settings,
  { accounts, signalled, supervisor }: { accounts: Accounts; signalled: Promise<'signal'>; supervisor: Supervisor },
): Promise<number> {
  say('Running. Ctrl-C stops everything.')
  const shown = showDemo(settings, accounts).then(() => showAddresses(settings.addresses))
  // Nothing it meets may end the processes.
  shown.catch((error: unknown) => say(messageOf(error)))
  const outcome = await Promise.race([signalled, supervisor.gaveUp])
  if (outcome === 'signal') return 0
  say(`Giving up: ${outcome}`)
  return 1
}

async function run(settings: Settings, exitAfterDemo: boolean): Promise<number> {
  const supervisor = createSupervisor(say, undefined, () => hasRoom(settings.dataDir))
  const signalled = untilSignal()
  const gaveUp = supervisor.gaveUp.then(reason => {
    throw new Error(`Giving up: ${reason}`)
  })
  gaveUp.catch(() => {})
  const started = startEverything(settings, supervisor)
  // When a signal wins the race, no one reads what the aborted start then throws.
  started.catch(() => {})
  try {
    const accounts = await Promise.race([started, signalled, gaveUp])
    if (accounts === 'signal') return exitAfterDemo ? 130 : 0
    if (!exitAfterDemo) return await stay(settings, { accounts, signalled, supervisor })
    const demo = demonstrate(settings, accounts)
    demo.catch(() => {})
    if ((await Promise.race([demo, signalled, gaveUp])) === 'signal') return 130
    showAddresses(settings.addresses)
    return 0
  } catch (error) {
    say(messageOf(error))
    return 1
  } finally {
    say('Stopping')
    await supervisor.stop()
    say('Stopped')
  }
}

async function main(): Promise<number> {
  const settings = readSettings(process.env)
  const unlock = lockDataDir(settings.dataDir)
  try {
    refuseUnfinished(settings.dataDir)
    return await run(settings, process.argv.includes('--exit'))
  } finally {
    unlock()
  }
}

main().then(
  code => process.exit(code),
  error => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  },
)
