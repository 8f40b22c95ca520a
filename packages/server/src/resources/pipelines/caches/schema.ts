import { Type } from 'typebox'
import { Timestamp, Uuid } from '../../schema.ts'

export const Cache = Type.Object(
  {
    id: Uuid,
    name: Type.String({ description: "The name that the step gives, or the pipeline's slug." }),
    branch: Type.String({ description: 'The branch whose build saved the cache.' }),
    platform: Type.String({ description: 'System and processor of the agents, such as `linux-x64`.' }),
    paths: Type.Array(Type.String(), { description: 'The cached paths, as the step writes them.' }),
    file_count: Type.Integer(),
    size_bytes: Type.Integer({ description: 'Size of the files before compression.' }),
    stored_bytes: Type.Integer({
      description:
        'Size in the store. Caches share packs, so the sum over caches is larger than the space they take.',
    }),
    job_id: Type.String({
      format: 'uuid',
      description: 'The job that saved the cache. It may be deleted since.',
    }),
    saved_at: Timestamp,
    used_at: Type.String({
      format: 'date-time',
      description: 'When a job last restored or saved the cache.',
    }),
  },
  { title: 'Cache' },
)

export const cacheFilters = {
  name: Type.Optional(Type.String({ description: 'Only caches of this name.' })),
  branch: Type.Optional(Type.String({ description: 'Only caches of this branch.' })),
}
