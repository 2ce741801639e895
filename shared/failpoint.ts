// Named points where a fault test stops, delays or fails a process: FAILPOINT=name:kill|delay|error, several with commas.
import { setTimeout as sleep } from 'node:timers/promises'

type Effect = 'kill' | 'delay' | 'error'
export type Failpoints = (name: string) => Promise<void> | undefined

const DELAY_MS = 3_000

/** A function to call at each named point; without `spec` it does nothing and costs one call. */
export function createFailpoints(spec: string): Failpoints {
  if (spec === '') return () => undefined
  const effects = new Map(
    spec.split(',').map(entry => {
      const [name, effect] = entry.split(':')
      if (!name || (effect !== 'kill' && effect !== 'delay' && effect !== 'error')) {
        throw new Error(`FAILPOINT entry ${entry} is not name:kill|delay|error`)
      }
      return [name, effect as Effect]
    }),
  )
  return name => {
    const effect = effects.get(name)
    if (effect === undefined) return undefined
    return act(name, effect)
  }
}

async function act(name: string, effect: Effect): Promise<void> {
  switch (effect) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL')
      await sleep(DELAY_MS)
      return
    case 'delay':
      await sleep(DELAY_MS)
      return
    case 'error':
      throw new Error(`failpoint ${name}`)
  }
}
