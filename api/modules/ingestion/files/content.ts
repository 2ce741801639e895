// The bytes of files, in chunks. A chunk belongs to an upload: one that was given up leaves chunks nobody reads.
import { and, asc, between, eq, ne, type SQL } from 'drizzle-orm'
import { type Database, type ReadUow, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { fileChunks, type StoredFile } from './table.ts'

/** Every chunk but the last has this size, so that a place in the content says where it is. */
export const CHUNK_BYTES = 262_144
/** Read in one go, when a whole content is read. */
const READ_CHUNKS = 4

/** The content of a file is the chunks of one upload. */
export type ContentKey = { readonly fileId: Id<'file'>; readonly uploadId: Id<'fupl'> }

/** Where the content of the file is; nothing is there of one that never had an upload. */
export const keyOf = ({ id, upload_id }: Pick<StoredFile, 'id' | 'upload_id'>): ContentKey => ({
  fileId: id,
  uploadId: upload_id ?? 'fupl_',
})

const ofFile = (uow: ReadUow, fileId: Id<'file'>): SQL | undefined =>
  and(
    eq(fileChunks.platform_id, uow.tenant.platformId),
    eq(fileChunks.environment, uow.tenant.environment),
    eq(fileChunks.file_id, fileId),
  )

/** Writes consecutive chunks, the first of which is `number`. */
export async function writeChunks(uow: Uow, key: ContentKey, number: number, chunks: readonly Buffer[]): Promise<void> {
  if (chunks.length === 0) return
  await uow.tx.insert(fileChunks).values(
    chunks.map((bytes, index) => ({
      platform_id: uow.tenant.platformId,
      environment: uow.tenant.environment,
      file_id: key.fileId,
      upload_id: key.uploadId,
      number: number + index,
      bytes,
    })),
  )
}

/** Removes what other uploads than this one have left of the file; all of them when `keep` is null. */
export async function removeChunks(uow: Uow, fileId: Id<'file'>, keep: Id<'fupl'> | null): Promise<void> {
  await uow.tx
    .delete(fileChunks)
    .where(and(ofFile(uow, fileId), keep === null ? undefined : ne(fileChunks.upload_id, keep)))
}

async function readChunks(uow: ReadUow, key: ContentKey, first: number, last: number): Promise<Buffer[]> {
  const rows = await uow.tx
    .select({ bytes: fileChunks.bytes })
    .from(fileChunks)
    .where(
      and(
        ofFile(uow, idOf('file', key.fileId)),
        eq(fileChunks.upload_id, idOf('fupl', key.uploadId)),
        between(fileChunks.number, first, last),
      ),
    )
    .orderBy(asc(fileChunks.number))
  return rows.map(row => row.bytes)
}

/** The bytes `[start, end)` of a content. */
export async function readBytes(uow: ReadUow, key: ContentKey, start: number, end: number): Promise<Buffer> {
  if (end <= start) return Buffer.alloc(0)
  const first = Math.floor(start / CHUNK_BYTES)
  const chunks = await readChunks(uow, key, first, Math.floor((end - 1) / CHUNK_BYTES))
  return Buffer.concat(chunks).subarray(start - first * CHUNK_BYTES, end - first * CHUNK_BYTES)
}

/** The content from `start` on, some of it at a time, each part read in a transaction of its own. */
export async function* streamContent(
  database: Database,
  tenant: Tenant,
  key: ContentKey,
  start: number,
): AsyncGenerator<Buffer> {
  const first = Math.floor(start / CHUNK_BYTES)
  let skip = start - first * CHUNK_BYTES
  for (let number = first; ; number += READ_CHUNKS) {
    const chunks = await readTenant(database, tenant, uow => readChunks(uow, key, number, number + READ_CHUNKS - 1))
    for (const chunk of chunks) {
      if (chunk.length > skip) yield chunk.subarray(skip)
      skip = Math.max(0, skip - chunk.length)
    }
    if (chunks.length < READ_CHUNKS) return
  }
}
