// Bringing in the content of a file: whole with the file, or as a stream that is never in memory and never in one transaction.
import { and, eq, sql } from 'drizzle-orm'
import { type Actor, type Database, inTenant, type Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { newId } from '../../../shared/ids.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../shared/time.ts'
import { createResource, saveChange } from '../../resource/commands.ts'
import type { Row } from '../../resource/define-resource.ts'
import { lockOne, notFound } from '../../resource/store.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { CHUNK_BYTES, type ContentKey, removeChunks, writeChunks } from './content.ts'
import { fileResource } from './file.ts'
import { files, type StoredFile } from './table.ts'

/** Content that comes within JSON is in memory as a whole, more than once; what is larger is streamed. */
export const INLINE_BYTES_MAX = 16 * 1024 * 1024
/** Room for the content in base64 and for the other fields. */
export const INLINE_BODY_BYTES_MAX = Math.ceil(INLINE_BYTES_MAX / 3) * 4 + 65_536
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
/** Written in one transaction. */
const WRITE_CHUNKS = 4

export type UploadLimits = {
  /** Of one file. */
  readonly fileBytesMax: number
  /** Of all files a platform keeps in one environment. */
  readonly storageBytesMax: number
}

const tooLarge = (bytesMax: number): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', `A file has at most ${bytesMax} bytes on this installation; split it.`, {
    field: 'content',
  })

/** Creates a file. With content it is UPLOADED and will be worked on; without, CREATED until its content is put. */
export async function createFile(uow: Uow, body: Row, limits: UploadLimits): Promise<Row> {
  const { content, ...fields } = body
  const row = await createResource(uow, fileResource, fields)
  if (content === undefined || content === null) return row
  const bytes = decodeContent(content)
  if (bytes.length > limits.fileBytesMax) throw tooLarge(limits.fileBytesMax)
  await requireRoom(uow, bytes.length, limits)
  const uploadId = newId('fupl')
  const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, number) =>
    bytes.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES),
  )
  for (let number = 0; number < chunks.length; number += WRITE_CHUNKS) {
    await writeChunks(uow, { fileId: row['id'], uploadId }, number, chunks.slice(number, number + WRITE_CHUNKS))
  }
  return await saveChange(uow, fileResource, row, {
    status: 'UPLOADED',
    upload_id: uploadId,
    content_bytes: bytes.length,
  })
}

function decodeContent(content: string): Buffer {
  if (content.length % 4 !== 0 || !BASE64.test(content)) {
    throw new AppError('INVALID_FIELD', 'content must be base64, with padding and without line ends.', {
      field: 'content',
    })
  }
  const bytes = Buffer.from(content, 'base64')
  if (bytes.length <= INLINE_BYTES_MAX) return bytes
  throw new AppError(
    'PAYLOAD_TOO_LARGE',
    `content has at most ${INLINE_BYTES_MAX} bytes; create the file without it and PUT the CSV to /v1/files/{id}/content.`,
    { field: 'content' },
  )
}

async function requireRoom(uow: Uow, bytes: number, limits: UploadLimits): Promise<void> {
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

export type Upload = {
  readonly database: Database
  readonly tenant: Tenant
  readonly actor: Actor
  readonly limits: UploadLimits
}

/**
 * Takes the content of a CREATED file from a stream and makes the file UPLOADED. One that ends early leaves the file CREATED,
 * to be sent again from its start. Of two at a time the one that began last goes on. Returns the file.
 */
export async function uploadContent(
  upload: Upload,
  idOrReference: string,
  content: AsyncIterable<Buffer>,
): Promise<Row> {
  const key = await begin(upload, idOrReference)
  try {
    await writeContent(upload, key, content)
  } catch (error) {
    // What is left counts against the platform's room, so it goes at once; failing that, with the abandoned uploads.
    await change(upload, uow => giveUp(uow, key)).catch(() => undefined)
    throw error
  }
  return await change(upload, async uow => {
    const row = (await lockOne(uow, fileResource, key.fileId)) as StoredFile
    requireUpload(row, key)
    await removeChunks(uow, key.fileId, key.uploadId)
    return await saveChange(uow, fileResource, row, { status: 'UPLOADED' })
  })
}

async function writeContent(upload: Upload, key: ContentKey, content: AsyncIterable<Buffer>): Promise<void> {
  let bytes = 0
  let number = 0
  let pending: Buffer[] = []
  const write = async (): Promise<void> => {
    const chunks = pending
    await change(upload, uow => addChunks(uow, key, { number, chunks, limits: upload.limits }))
    number += chunks.length
    pending = []
  }
  for await (const chunk of inChunks(content)) {
    bytes += chunk.length
    if (bytes > upload.limits.fileBytesMax) throw tooLarge(upload.limits.fileBytesMax)
    pending.push(chunk)
    if (pending.length === WRITE_CHUNKS) await write()
  }
  if (pending.length > 0) await write()
}

const change = <T>({ database, tenant, actor }: Upload, work: (uow: Uow) => Promise<T>): Promise<T> =>
  inTenant(database, tenant, actor, work)

async function begin(upload: Upload, idOrReference: string): Promise<ContentKey> {
  const uploadId = newId('fupl')
  return await change(upload, async uow => {
    const row = await lockOne(uow, fileResource, idOrReference)
    if (!row) throw notFound(fileResource, idOrReference)
    if (row['status'] !== 'CREATED') {
      throw new AppError('INVALID_OPERATION', `The file is ${row['status']} and has its content; create another one.`, {
        field: 'status',
      })
    }
    await removeChunks(uow, row['id'], null)
    await progress(uow, row['id'], { upload_id: uploadId, content_bytes: 0 })
    return { fileId: row['id'], uploadId }
  })
}

const progress = async (uow: Uow, fileId: string, values: { upload_id?: string; content_bytes: number }) =>
  await uow.tx
    .update(files)
    .set({ ...values, upload_at: formatInstant(uow.now) })
    .where(and(inThisTenant(uow, files), eq(files.id, fileId)))

type Addition = { readonly number: number; readonly chunks: readonly Buffer[]; readonly limits: UploadLimits }

async function addChunks(uow: Uow, key: ContentKey, { number, chunks, limits }: Addition): Promise<void> {
  const row = (await lockOne(uow, fileResource, key.fileId)) as StoredFile
  requireUpload(row, key)
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  await requireRoom(uow, size, limits)
  await writeChunks(uow, key, number, chunks)
  await progress(uow, key.fileId, { content_bytes: row.content_bytes + size })
}

const isOurs = (row: StoredFile, { uploadId }: ContentKey): boolean =>
  row.upload_id === uploadId && row.status === 'CREATED'

function requireUpload(row: StoredFile, key: ContentKey): void {
  if (isOurs(row, key)) return
  throw new AppError('COULD_NOT_UPDATE_RESOURCE', 'Another upload of this file began after this one, which ends here.')
}

/** Removes the chunks of an upload that will not end; a newer one has removed them already. */
async function giveUp(uow: Uow, key: ContentKey): Promise<void> {
  const row = await lockOne(uow, fileResource, key.fileId)
  if (!row || !isOurs(row as StoredFile, key)) return
  await removeChunks(uow, key.fileId, null)
  await progress(uow, key.fileId, { content_bytes: 0 })
}

/** Removes what an upload left that its sender gave up before `before`, or that a dying process could not remove. */
export async function removeAbandonedUpload(uow: Uow, fileId: string, before: Instant): Promise<void> {
  const row = (await lockOne(uow, fileResource, fileId)) as StoredFile | null
  if (row?.status !== 'CREATED' || row.upload_at === null || Date.parse(row.upload_at) >= before) return
  await giveUp(uow, { fileId, uploadId: row.upload_id ?? '' })
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
