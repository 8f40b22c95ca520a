// Entries of a cache registry. The bytes travel elsewhere; this is their index.

export interface CacheKeyPart {
  value: string
  mandatory: boolean
}

export interface CacheLookupRequest {
  target_paths: string[]
  cache_key: CacheKeyPart[]
}

export interface CacheBlob {
  digest: { algorithm: 'sha256'; value: string }
  file_size: number
  compression: 'zstd' | 'zip'
}

export interface CacheRegistryResponse {
  uuid: string
  name: string
  store: 'agent_managed' | 'local_file'
}

export interface CachePeekResponse extends CacheLookupRequest {
  blobs: CacheBlob[]
  store: string
  message: string
}

export interface CacheRetrieveResponse extends CachePeekResponse {
  expires_at: string
  fallback: boolean
  multipart: boolean
  download_instructions: unknown[]
}

export interface CacheStoreRequest extends CacheLookupRequest {
  blobs: CacheBlob[]
  platform: string
}

export interface CacheStoreResponse {
  upload_id: string
  multipart: boolean
  upload_instructions: unknown[]
  message: string
}

export interface CacheCommitRequest {
  upload_id: string
  e_tags?: string[]
}

export interface CacheCommitResponse {
  message: string
}
