// What the loops of a worker ask PostgreSQL again and again, at rest always in vain. One statement asks it for all of them: most of what a
// question costs is to send it and to read its answer.
import { type Database, stateAsSystem } from '../../shared/database/database.ts'

/** Those of one kind are woken together. */
export type Asker = 'relay' | 'consumers' | 'senders'

export type Question = {
  readonly by: Asker
  /** A query of SQL for one text, or for none. `$1` is the time of the database's clock. */
  readonly text: string
}

export type Rounds = {
  /**
   * The answer of the next round, or of one `atOnce`. The first time a question is asked at once. Resolves with null when `stop` aborts, and
   * rejects when the round fails.
   */
  ask(question: Question, of: { readonly stop: AbortSignal; readonly atOnce?: boolean }): Promise<string | null>
  /** Has them asked at once, since something was done that they wait for. */
  wake(asker: Asker): void
}

const ROUND_MS = 200

type Waiting = {
  readonly question: Question
  dueAt: number
  readonly answer: (text: string | null) => void
  readonly fail: (error: unknown) => void
}

/** `database` is in the role of the worker. `roundMs`: the time from one round to the next. */
export function createRounds(database: Database, { roundMs = ROUND_MS } = {}): Rounds {
  const waiting = new Set<Waiting>()
  const known = new Set<string>()
  /** Those that did not wait when they were woken: they were at work, and may have missed what woke them. */
  const woken = new Set<Asker>()
  let timer: NodeJS.Timeout | undefined
  /** The moment of the last round, which a timer may have taken a little early. */
  let lastAt = 0

  const schedule = (): void => {
    clearTimeout(timer)
    if (waiting.size === 0) return
    const first = Math.min(...[...waiting].map(({ dueAt }) => dueAt))
    timer = setTimeout(takeRound, Math.max(0, first - performance.now()))
  }
  const takeRound = (): void => {
    // A timer may be a little early.
    const until = performance.now() + 1
    const due = [...waiting].filter(({ dueAt }) => dueAt <= until)
    for (const each of due) {
      waiting.delete(each)
      lastAt = Math.max(lastAt, each.dueAt)
    }
    schedule()
    if (due.length === 0) return
    askAll(
      database,
      due.map(({ question }) => question),
    ).then(
      answers => {
        for (const [place, { answer }] of due.entries()) answer(answers[place] ?? null)
      },
      (error: unknown) => {
        for (const { fail } of due) fail(error)
      },
    )
  }
  /** All wait for the same moments, so that they are asked together; none has the same one twice. */
  const nextRound = (now: number): number => (Math.floor(Math.max(now, lastAt) / roundMs) + 1) * roundMs

  return {
    ask: ({ by, text }, { stop, atOnce = false }) =>
      new Promise((resolve, reject) => {
        if (stop.aborted) return resolve(null)
        const isDue = atOnce || woken.delete(by) || !known.has(text)
        known.add(text)
        const now = performance.now()
        const settled = <T>(settle: (value: T) => void) => {
          return (value: T) => {
            stop.removeEventListener('abort', leave)
            settle(value)
          }
        }
        const one: Waiting = {
          question: { by, text },
          dueAt: isDue ? now : nextRound(now),
          answer: settled(resolve),
          fail: settled(reject),
        }
        const leave = (): void => {
          waiting.delete(one)
          schedule()
          resolve(null)
        }
        stop.addEventListener('abort', leave, { once: true })
        waiting.add(one)
        schedule()
      }),
    wake: asker => {
      const own = [...waiting].filter(({ question }) => question.by === asker)
      for (const each of own) each.dueAt = 0
      if (own.length > 0) schedule()
      else woken.add(asker)
    },
  }
}

/** How many seconds ago the time was that a question found; 0 when it found none. */
export const secondsSince = ({ clock }: Database, found: string | null): number =>
  found === null ? 0 : Math.max(0, (clock.now() - Date.parse(found)) / 1_000)

async function askAll(database: Database, questions: readonly Question[]): Promise<(string | null)[]> {
  const text = `select ${questions.map((question, place) => `(${question.text}) as "${place}"`).join(', ')}`
  const values = text.includes('$1') ? [new Date(database.clock.now()).toISOString()] : []
  const [row] = await stateAsSystem<Record<string, string | null>>(database, 'find-work', { text, values })
  return questions.map((_, place) => row?.[place] ?? null)
}
