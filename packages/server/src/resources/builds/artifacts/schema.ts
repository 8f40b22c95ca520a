import { Type } from 'typebox'
import { integer, oneOf, text } from '../../schema.ts'

export const artifactStates = ['new', 'error', 'finished', 'deleted', 'expired'] as const
export type ArtifactState = (typeof artifactStates)[number]

export const Artifact = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    job_id: Type.String({ format: 'uuid' }),
    url: Type.String(),
    download_url: text('Address that leads to the file.'),
    state: oneOf(
      ['new', 'error', 'finished', 'deleted', 'expired'],
      'Whether the file is being uploaded, there, or gone.',
    ),
    path: text('Path of the file, as it was uploaded.'),
    dirname: text('`.` for a file at the root.'),
    filename: text('Last part of the path.'),
    mime_type: text('Media type of the file.'),
    file_size: integer('Bytes.'),
    sha1sum: text('As the agent worked it out.'),
    glob_path: Type.Null({ deprecated: true, description: 'Always null.' }),
    original_path: Type.Null({ deprecated: true, description: 'Always null.' }),
  },
  { title: 'Artifact' },
)

export const ArtifactDownload = Type.Object(
  { url: text('Address of the file, good for 60 seconds.') },
  { title: 'ArtifactDownload' },
)
