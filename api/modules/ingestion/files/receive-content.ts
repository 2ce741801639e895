// Taking the content of a file from a stream, of an upload or a download: in chunks, never whole in memory, never in one transaction.
import { and, eq, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf, newId } from '../../../../shared/ids.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { lockExisting, lockOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { CHUNK_BYTES, type ContentKey, keyOf, removeChunks, writeChunks } from './content.ts'
import { fileResource } from './file.ts'
import { type FileStatus, files, type StoredFile } from './table.ts'

/** Written in one transaction. */
const WRITE_CHUNKS = 4

export type UploadLimits = {
  /** Of one file. */
  readonly fileBytesMax: number
  /** Of all files a platform keeps in one environment. */
  readonly storageBytesMax: number
}

export type Receiving = {
  /** Runs each of the steps as a unit of work. */
  readonly change: <T>(work: (uow: Uow) => Promise<T>) => Promise<T>
  readonly limits: UploadLimits
  /** What the file is until its content is there. */
  readonly from: FileStatus
  /** What it is then, with what else changes. */
  readonly to: Partial<StoredFile> & { readonly status: FileStatus }
}

/** The refusal of a file that is larger than one may be. */
export const tooLarge = (bytesMax: number): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', `A file has at most ${bytesMax} bytes on this installation; split it.`, {
    field: 'content',
  })

/** Refuses `bytes` more than the files of the platform may take. */
export async function requireRoom(uow: Uow, bytes: number, limits: UploadLimits): Promise<void> {
  const [kept] = await uow.tx
    .select({ bytes: sql<string>`coalesce(sum(${files.content_bytes}), 0)` })
    .from(files)
    .where(inThisTenant(uow, files))
  if (Number(kept?.bytes ?? 0) + bytes <= limits.storageBytesMax) return
  throw new AppError(
    'PAYLOAD_TOO_LARGE',
    `The files of this platform would take more than ${limits.storageBytesMax} bytes; the operator of the installation can raise that.`,
    { field: 'content' },
  )
}

/**
 * Takes the content of a file from a stream and moves the file on. A stream that ends early leaves the file where it was, to be
 * sent again from its start. Of two at a time the one that began last continues. Returns the file. Throws what the stream throws.
 */
export async function receiveContent(
  receiving: Receiving,
  idOrReference: string,
  content: AsyncIterable<Buffer>,
): Promise<StoredFile> {
  const { change } = receiving
  const key = await begin(receiving, idOrReference)
  try {
    await writeContent(receiving, key, content)
  } catch (error) {
    // What is left counts against the platform's room, so it goes at once; failing that, with the abandoned uploads.
    await change(uow => giveUp(uow, receiving, key)).catch(() => undefined)
    throw error
  }
  return await change(async uow => {
    const row = await lockExisting(uow, fileResource, key.fileId)
    requireUpload(row, receiving, key)
    await removeChunks(uow, key.fileId, idOf('fupl', key.uploadId))
    return await saveChange(uow, fileResource, row, receiving.to)
  })
}

async function writeContent(receiving: Receiving, key: ContentKey, content: AsyncIterable<Buffer>): Promise<void> {
  const { change, limits } = receiving
  let bytes = 0
  let number = 0
  let pending: Buffer[] = []
  const write = async (): Promise<void> => {
    const chunks = pending
    await change(uow => addChunks(uow, receiving, { key, number, chunks }))
    number += chunks.length
    pending = []
  }
  for await (const chunk of inChunks(content)) {
    bytes += chunk.length
    if (bytes > limits.fileBytesMax) throw tooLarge(limits.fileBytesMax)
    pending.push(chunk)
    if (pending.length === WRITE_CHUNKS) await write()
  }
  if (pending.length > 0) await write()
}

async function begin({ change, from }: Receiving, idOrReference: string): Promise<ContentKey> {
  const uploadId = newId('fupl')
  return await change(async uow => {
    const row = await lockExisting(uow, fileResource, idOrReference)
    if (row.status !== from) {
      throw new AppError('INVALID_OPERATION', `The file is ${row.status}, not ${from}; create another one.`, {
        field: 'status',
      })
    }
    await removeChunks(uow, row.id, null)
    await progress(uow, row.id, { upload_id: uploadId, content_bytes: 0 })
    return { fileId: row.id, uploadId }
  })
}

const progress = async (uow: Uow, fileId: Id<'file'>, values: { upload_id?: Id<'fupl'>; content_bytes: number }) =>
  await uow.tx
    .update(files)
    .set({ ...values, upload_at: formatInstant(uow.now) })
    .where(and(inThisTenant(uow, files), eq(files.id, fileId)))

type Addition = { readonly key: ContentKey; readonly number: number; readonly chunks: readonly Buffer[] }

async function addChunks(uow: Uow, receiving: Receiving, { key, number, chunks }: Addition): Promise<void> {
  const row = await lockExisting(uow, fileResource, key.fileId)
  requireUpload(row, receiving, key)
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  await requireRoom(uow, size, receiving.limits)
  await writeChunks(uow, key, number, chunks)
  await progress(uow, key.fileId, { content_bytes: row.content_bytes + size })
}

const isOurs = (row: StoredFile, { from }: Pick<Receiving, 'from'>, { uploadId }: ContentKey): boolean =>
  row.upload_id === uploadId && row.status === from

function requireUpload(row: StoredFile, receiving: Receiving, key: ContentKey): void {
  if (isOurs(row, receiving, key)) return
  throw new AppError('COULD_NOT_UPDATE_RESOURCE', 'A newer upload of this file has started, so this one was stopped.')
}

/** Removes the chunks of an upload that will not end; a newer one has removed them already. */
async function giveUp(uow: Uow, receiving: Pick<Receiving, 'from'>, key: ContentKey): Promise<void> {
  const row = await lockOne(uow, fileResource, key.fileId)
  if (!row || !isOurs(row, receiving, key)) return
  await removeContent(uow, key.fileId)
}

/** Removes all there is of the content of a file that has not got it whole. */
export async function removeContent(uow: Uow, fileId: Id<'file'>): Promise<void> {
  await removeChunks(uow, fileId, null)
  await progress(uow, fileId, { content_bytes: 0 })
}

/** Removes what an upload left that its sender gave up before `before`, or that a dying process could not remove. */
export async function removeAbandonedUpload(uow: Uow, fileId: Id<'file'>, before: Instant): Promise<void> {
  const row = await lockOne(uow, fileResource, fileId)
  if (row?.status !== 'CREATED' || row.upload_at === null || Date.parse(row.upload_at) >= before) return
  await giveUp(uow, { from: 'CREATED' }, keyOf(row))
}

/** The same bytes in pieces of CHUNK_BYTES; the last may be shorter. */
async function* inChunks(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let size = 0
  for await (const piece of content) {
    held.push(piece)
    size += piece.length
    if (size < CHUNK_BYTES) continue
    let whole = Buffer.concat(held)
    for (; whole.length >= CHUNK_BYTES; whole = whole.subarray(CHUNK_BYTES)) yield whole.subarray(0, CHUNK_BYTES)
    held = [whole]
    size = whole.length
  }
  if (size > 0) yield Buffer.concat(held)
}
