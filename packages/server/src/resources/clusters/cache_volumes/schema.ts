import { Type } from 'typebox'
import { integer, orNull, text, Timestamp, timestamp, Uuid } from '../../schema.ts'

export const CacheVolume = Type.Object(
  {
    id: text('Id of the volume.'),
    tag: text('Tag of the cache; it may contain `/` and `;`.'),
    cluster_id: Uuid,
    size_mb: integer('Size in megabytes.'),
    created_at: Timestamp,
    attached_at: orNull(timestamp('When the volume was last attached to an agent; null when it never was.')),
    detached_at: timestamp('When the volume was last detached from an agent.'),
  },
  { title: 'CacheVolume' },
)

/** Accepts any tag, because the handler answers every wrong one with the same message. */
export const DeleteCacheVolume = Type.Object({ tag: Type.Optional(Type.Unknown()) })

export const DocumentedDeleteCacheVolume = Type.Object(
  { tag: Type.String({ minLength: 1, description: 'The tag of a listed volume, not its id.' }) },
  { title: 'DeleteCacheVolume', examples: [{ tag: '01885682-55a7-44f5-84f3-0402fb452e66/node_modules' }] },
)
