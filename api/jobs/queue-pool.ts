// The connections of the job queue.
import pg from 'pg'

/**
 * A pool whose connections may be given back twice by who took them with a callback: the second time does nothing. The queue's library
 * (0.17.3, `listenForChanges` in its main.js) gives the connection on which it listens back when it stops, and again when its LISTEN
 * fails meanwhile, in a promise no one awaits; the pool's own refusal would end the process.
 */
export class QueuePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Taken): void
  override connect(callback?: Taken): Promise<pg.PoolClient> | undefined {
    if (!callback) return super.connect()
    super.connect((error, client, release) => {
      // A pool that ends gives neither a connection nor a way to give it back; the library calls for the second all the same.
      if (!client) return callback(error, client, () => undefined)
      let isReleased = false
      callback(error, client, reason => {
        if (isReleased) return
        isReleased = true
        release(reason)
      })
    })
    return undefined
  }
}

type Taken = (error: Error | undefined, client: pg.PoolClient | undefined, release: (reason?: unknown) => void) => void
