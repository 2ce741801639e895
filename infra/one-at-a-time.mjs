// One process at a time does something that two would spoil, such as building. Node's own modules only, because nothing else may be
// installed yet.
import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 100
const BEAT_MS = 1_000
/** A process that has not touched its lock for so long was killed, or is stopped. */
const STALE_MS = 15_000

/** Null where there is no such file. */
function unlessGone(read) {
  try {
    return read()
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

/** Whether the lock is ours now. It appears with its content, so that nobody reads half of it. */
function take(lock, own) {
  const draft = `${lock}.${own}`
  writeFileSync(draft, own)
  try {
    linkSync(draft, lock)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function putBack(aside, lock) {
  try {
    linkSync(aside, lock)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/** Takes away the lock of a process that was killed, unless another has done so and holds it by now. */
function breakStale(lock, own, staleMs) {
  const seen = unlessGone(() => ({ holder: readFileSync(lock, 'utf8'), touched: statSync(lock).mtimeMs }))
  if (!seen || Date.now() - seen.touched < staleMs) return
  const aside = `${lock}.${own}.stale`
  if (unlessGone(() => renameSync(lock, aside) ?? true) === null) return
  if (readFileSync(aside, 'utf8') !== seen.holder) putBack(aside, lock)
  rmSync(aside, { force: true })
}

/**
 * Runs `act` while no other process runs something under the same lock file, and gives what it gives. `onWait` is called once when another
 * holds it. A process that was killed holds it for `staleMs` at most.
 */
export async function oneAtATime(lock, act, { onWait = () => undefined, staleMs = STALE_MS } = {}) {
  mkdirSync(dirname(lock), { recursive: true })
  const own = randomUUID()
  for (let waited = false; !take(lock, own); waited = true) {
    if (!waited) onWait()
    breakStale(lock, own, staleMs)
    await sleep(POLL_MS)
  }
  const beat = setInterval(() => unlessGone(() => utimesSync(lock, new Date(), new Date())), BEAT_MS)
  try {
    return await act()
  } finally {
    clearInterval(beat)
    if (unlessGone(() => readFileSync(lock, 'utf8')) === own) rmSync(lock, { force: true })
  }
}
