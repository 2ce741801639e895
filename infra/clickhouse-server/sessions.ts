// Engine sessions that were used, for questions that are alike. A session of its own, and its settings, cost a short question a third of its
// price.
import type { Session } from 'chdb'
import type { Query } from './request.ts'

/** Of those that are not in use, so many stay open: each takes some memory of the engine. */
const IDLE_MAX = 16
/** The engine may remember something of each statement, so none is used for ever. */
const USES_MAX = 1_000

export type Lease = {
  readonly session: Session
  /** Whether database and settings are those of the question already; its bound parameters are set anew each time. */
  readonly isSet: boolean
  /** `ended`: whether the statement was answered. */
  release(ended: boolean): void
}

/**
 * What a session has of a question once it is asked: the database, the settings, and the names of bound parameters. Null for what may leave
 * more behind, or something else: anything but one SELECT, and what may change nothing.
 */
export function kindOf({ sql, data, database, settings, parameters, readOnly }: Query): string | null {
  if (readOnly || data.length > 0 || sql.includes(';') || !/^\s*SELECT\s/i.test(sql)) return null
  return JSON.stringify([database, [...settings], [...parameters.keys()]])
}

/** Opens sessions by `open`, and closes all but the IDLE_MAX that were used last. */
export function createSessions(open: () => Session): { lease(query: Query): Lease; close(): void } {
  type Idle = { readonly kind: string; readonly session: Session; readonly uses: number }
  /** The one that was used last is at the end. */
  const idle: Idle[] = []

  function take(kind: string): Idle | undefined {
    const at = idle.findLastIndex(each => each.kind === kind)
    return at < 0 ? undefined : idle.splice(at, 1)[0]
  }
  return {
    lease(query) {
      const kind = kindOf(query)
      const known = kind === null ? undefined : take(kind)
      const session = known?.session ?? open()
      const uses = (known?.uses ?? 0) + 1
      return {
        session,
        isSet: known !== undefined,
        release(ended) {
          if (kind === null || !ended || uses >= USES_MAX) return session.close()
          idle.push({ kind, session, uses })
          if (idle.length > IDLE_MAX) idle.shift()?.session.close()
        },
      }
    },
    close() {
      for (const { session } of idle.splice(0)) session.close()
    },
  }
}
