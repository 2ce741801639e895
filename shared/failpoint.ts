// Named points where a fault test kills, holds or fails a process: FAILPOINT=name:kill|hold|error, several with commas, or
// FAILPOINT=@file, whose content is read anew at each point: so a test sets one in a process that runs.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

type Effect = 'kill' | 'hold' | 'error'
type Effects = ReadonlyMap<string, Effect>
export type Failpoints = (name: string) => Promise<void> | undefined

const DIES_WITHIN_MS = 3_000
const LOOKS_EVERY_MS = 20

/** A function to call at each named point; without `spec` it does nothing and costs one call. Throws when `spec` cannot be read. */
export function createFailpoints(spec: string): Failpoints {
  if (spec === '') return () => undefined
  const effects = spec.startsWith('@') ? () => parseEffects(readFileSync(spec.slice(1), 'utf8')) : fixed(spec)
  effects()
  return name => {
    const effect = effects().get(name)
    return effect === undefined ? undefined : act(name, effect, () => effects().get(name) === 'hold')
  }
}

function fixed(spec: string): () => Effects {
  const effects = parseEffects(spec)
  return () => effects
}

function parseEffects(spec: string): Effects {
  const entries = spec === '' ? [] : spec.split(',')
  return new Map(
    entries.map(entry => {
      const [name, effect] = entry.split(':')
      if (!name || (effect !== 'kill' && effect !== 'hold' && effect !== 'error')) {
        throw new Error(`FAILPOINT entry ${entry} is not name:kill|hold|error`)
      }
      return [name, effect]
    }),
  )
}

async function act(name: string, effect: Effect, isHeld: () => boolean): Promise<void> {
  switch (effect) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL')
      await sleep(DIES_WITHIN_MS)
      return
    case 'hold':
      while (isHeld()) await sleep(LOOKS_EVERY_MS)
      return
    case 'error':
      throw new Error(`failpoint ${name}`)
  }
}
