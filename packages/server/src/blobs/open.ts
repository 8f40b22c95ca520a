import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { diskStore } from './disk.ts'
import { s3Store } from './s3.ts'
import type { BlobStore } from './store.ts'

export const openBlobs = ({ blobs, dataDir, secrets }: Config): BlobStore =>
  blobs.kind === 'disk' ? diskStore(join(dataDir, 'blobs')) : s3Store(blobs, secrets.s3)
