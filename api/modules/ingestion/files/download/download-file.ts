// A file from its address to its content. May be broken off anywhere and begun again by any worker: what had come is dropped, and
// it is requested from its start. An attempt that failed at the other side is counted, and the next one waits longer.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import type { Failpoints } from '../../../../../shared/failpoint.ts'
import { type Id, idOf } from '../../../../../shared/ids.ts'
import type { OutboundPolicy } from '../../../../../shared/outbound/judge-url.ts'
import type { OutboundRequest } from '../../../../../shared/outbound/outbound-request.ts'
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import { saveChange } from '../../../../resource/commands.ts'
import { lockExisting } from '../../../../resource/store.ts'
import { fileResource } from '../file.ts'
import { moveFile } from '../process/import-file.ts'
import type { Lease } from '../process/lease.ts'
import { receiveContent, removeContent, type UploadLimits } from '../receive-content.ts'
import { FailedDownload, fetchContent } from './fetch-content.ts'

export type DownloadDeps = {
  /** Connects to what `policy` allows and to nothing else. */
  readonly request: OutboundRequest
  readonly policy: OutboundPolicy
  readonly limits: UploadLimits
  /** For one attempt. */
  readonly deadlineMs: number
  /** Before the second attempt, the third, and so on; there is one attempt more than waits. */
  readonly waitsMs: readonly number[]
  readonly failpoint: Failpoints
}

export const DOWNLOAD_WAITS_MS = [10_000, 60_000, 300_000, 900_000]

/**
 * Downloads a file that is TO_BE_DOWNLOADED or DOWNLOADING. It is DOWNLOADED then; DOWNLOADING with a message and a time for the
 * next attempt (`RETRIED`); or in ERROR. Throws when the fault is on our side: the file is resumed later, and no attempt counts.
 */
export async function downloadFile(deps: DownloadDeps, lease: Lease): Promise<'DOWNLOADED' | 'RETRIED' | 'ERROR'> {
  const file = await lease.change(uow => moveFile(uow, lease.fileId, 'DOWNLOADING'))
  const address = `${file.download_settings?.external_location ?? ''}${file.download_query ?? ''}`
  const content = fetchContent(address, {
    request: deps.request,
    policy: deps.policy,
    bytesMax: deps.limits.fileBytesMax,
    deadlineMs: deps.deadlineMs,
    signal: lease.signal,
  })
  try {
    await receiveContent(
      {
        change: async work => {
          const result = await lease.change(work)
          await deps.failpoint('files.after-download-step')
          return result
        },
        limits: deps.limits,
        from: 'DOWNLOADING',
        // Nobody has begun to process it, so it takes its turn among those.
        to: { status: 'DOWNLOADED', message: null, download_query: null, download_after: null, worked_at: null },
      },
      lease.fileId,
      content,
    )
    return 'DOWNLOADED'
  } catch (error) {
    lease.signal.throwIfAborted()
    const failure = failureOf(error)
    if (failure === null) throw error
    return await lease.change(uow => noteFailure(uow, idOf('file', lease.fileId), { failure, waitsMs: deps.waitsMs }))
  }
}

/** What the uploader has to hear of; null for a fault of ours. */
function failureOf(error: unknown): FailedDownload | null {
  if (error instanceof FailedDownload) return error
  if (error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE') return new FailedDownload(error.message, true)
  return null
}

type Failure = { readonly failure: FailedDownload; readonly waitsMs: readonly number[] }

async function noteFailure(uow: Uow, fileId: Id<'file'>, { failure, waitsMs }: Failure): Promise<'RETRIED' | 'ERROR'> {
  const row = await lockExisting(uow, fileResource, fileId)
  const attempts = row.download_attempts + 1
  const waitMs = failure.isFinal ? undefined : waitsMs[attempts - 1]
  if (waitMs === undefined) {
    await removeContent(uow, fileId)
    const advice = failure.isFinal
      ? 'Then create another file.'
      : `It was tried ${attempts} times; create another file when the server can be reached.`
    const message = `${failure.message} ${advice}`
    await saveChange(uow, fileResource, row, {
      status: 'ERROR',
      message,
      download_attempts: attempts,
      download_query: null,
      download_after: null,
    })
    return 'ERROR'
  }
  const next = formatInstant(instantOf(uow.now + waitMs))
  const message = `${failure.message} That was attempt ${attempts} of ${waitsMs.length + 1}; the next is made after ${next}.`
  await saveChange(uow, fileResource, row, { message, download_attempts: attempts })
  await uow.tx.execute(sql`
    update files set download_after = now() + make_interval(secs => ${waitMs / 1_000})
    where platform_id = ${uow.tenant.platformId} and environment = ${uow.tenant.environment} and id = ${fileId}`)
  return 'RETRIED'
}
