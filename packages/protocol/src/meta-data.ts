// Values that the jobs of a build share.
import { Type, type Static } from 'typebox'

const Key = Type.String({ minLength: 1, maxLength: 1024, pattern: '\\S', description: 'must not be blank' })

export const MetaDataItem = Type.Object({
  key: Key,
  value: Type.String({ pattern: '\\S', description: 'must not be blank' }),
})
export type MetaDataItem = Static<typeof MetaDataItem>

/** All or none are set. */
export const MetaDataSetBatchRequest = Type.Object({ items: Type.Array(MetaDataItem, { maxItems: 1000 }) })

export const MetaDataKeyRequest = Type.Object({ key: Key })

export const MetaDataGetResponse = Type.Object({ key: Type.String(), value: Type.String() })
export type MetaDataGetResponse = Static<typeof MetaDataGetResponse>

export const MetaDataExistsResponse = Type.Object({ exists: Type.Boolean() })
export type MetaDataExistsResponse = Static<typeof MetaDataExistsResponse>

export const MetaDataKeysResponse = Type.Array(Type.String())
export type MetaDataKeysResponse = Static<typeof MetaDataKeysResponse>
