// Values that the jobs of a build share.

export interface MetaDataItem {
  key: string
  value: string
}

export type MetaDataSetRequest = MetaDataItem

/** All or none are set. */
export interface MetaDataSetBatchRequest {
  items: MetaDataItem[]
}

export interface MetaDataKeyRequest {
  key: string
}

export type MetaDataGetResponse = MetaDataItem

export interface MetaDataExistsResponse {
  exists: boolean
}

export type MetaDataKeysResponse = string[]
