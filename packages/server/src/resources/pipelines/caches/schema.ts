import { Type } from 'typebox'
import { integer, text, timestamp, uuid } from '../../schema.ts'

export const Cache = Type.Object(
  {
    id: uuid('Id of the cache. It stays when a job saves the cache again.'),
    name: text("The name that the step gives, or the pipeline's slug."),
    branch: text('The branch whose build saved the cache.'),
    platform: text('System and processor of the agents, such as `linux-x64`.'),
    paths: Type.Array(Type.String(), { description: 'The cached paths, as the step writes them.' }),
    file_count: integer('Number of cached files.'),
    size_bytes: integer('Size of the files before compression.'),
    stored_bytes: integer(
      'Size in the store. Caches share packs, so the sum over caches is larger than the space they take.',
    ),
    job_id: uuid('The job that saved the cache. It may be deleted since.'),
    saved_at: timestamp('When a job last saved the cache.'),
    used_at: Type.String({
      format: 'date-time',
      description: 'When a job last restored or saved the cache.',
    }),
  },
  { title: 'Cache' },
)

export const cacheFilters = {
  name: Type.Optional(text('Only caches of this name.')),
  branch: Type.Optional(text('Only caches of this branch.')),
}
