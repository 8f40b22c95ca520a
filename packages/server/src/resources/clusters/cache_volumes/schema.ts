import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

export const CacheVolume = Type.Object(
  {
    id: Type.String(),
    tag: Type.String({ description: 'Tag of the cache; it may contain `/` and `;`.' }),
    cluster_id: Uuid,
    size_mb: Type.Integer(),
    created_at: Timestamp,
    attached_at: orNull(Timestamp),
    detached_at: Timestamp,
  },
  { title: 'CacheVolume' },
)

/** Accepts any tag, because the handler answers every wrong one with the same message. */
export const DeleteCacheVolume = Type.Object({ tag: Type.Optional(Type.Unknown()) })

export const DocumentedDeleteCacheVolume = Type.Object(
  { tag: Type.String({ minLength: 1, description: 'The tag of a listed volume, not its id.' }) },
  { title: 'DeleteCacheVolume', examples: [{ tag: '01885682-55a7-44f5-84f3-0402fb452e66/node_modules' }] },
)
