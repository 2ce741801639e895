// The usage log alone, of a broker of the operator's own.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUpStreams, presentStreams, restoreStreams } from './copy-streams.ts'

/** Written last: which streams the folder holds. */
const ABOUT = 'log.json'

/** Backs up every stream of the usage log behind `natsUrl` into `target`, which must not exist yet. Resolves with their names. */
export async function backUpLog(natsUrl: string, target: string): Promise<string[]> {
  const folder = resolve(target)
  if (existsSync(folder)) throw new Error(`${folder} exists already; name a folder that does not`)
  const draft = `${folder}.unfinished`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  const streams = await backUpStreams(natsUrl, join(draft, 'streams'))
  if (streams.length === 0) throw new Error('this broker has no stream of the usage log; check NATS_URL')
  writeFileSync(join(draft, ABOUT), `${JSON.stringify({ streams }, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, folder)
  return streams
}

/** Restores what `backUpLog` wrote into a broker without these streams: it writes over nothing. Resolves with their names. */
export async function restoreLog(natsUrl: string, folder: string): Promise<string[]> {
  const file = join(folder, ABOUT)
  if (!existsSync(file)) throw new Error(`${folder} is not a backup of the usage log: it has no ${ABOUT}`)
  const { streams } = JSON.parse(readFileSync(file, 'utf8')) as { readonly streams: readonly string[] }
  const present = (await presentStreams(natsUrl)).filter(name => streams.includes(name))
  if (present.length > 0)
    throw new Error(`the broker has ${present.join(', ')} already; remove them first, or name another`)
  await restoreStreams(natsUrl, join(folder, 'streams'), streams)
  return [...streams]
}
