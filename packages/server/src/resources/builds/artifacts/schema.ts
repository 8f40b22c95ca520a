import { Type } from 'typebox'

export const artifactStates = ['new', 'error', 'finished', 'deleted', 'expired'] as const
export type ArtifactState = (typeof artifactStates)[number]

export const Artifact = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    job_id: Type.String({ format: 'uuid' }),
    url: Type.String(),
    download_url: Type.String(),
    state: Type.Union([
      Type.Literal('new'),
      Type.Literal('error'),
      Type.Literal('finished'),
      Type.Literal('deleted'),
      Type.Literal('expired'),
    ]),
    path: Type.String(),
    dirname: Type.String({ description: '`.` for a file at the root.' }),
    filename: Type.String(),
    mime_type: Type.String(),
    file_size: Type.Integer({ description: 'Bytes.' }),
    sha1sum: Type.String({ description: 'As the agent worked it out.' }),
    glob_path: Type.Null({ deprecated: true }),
    original_path: Type.Null({ deprecated: true }),
  },
  { title: 'Artifact' },
)

export const ArtifactDownload = Type.Object({ url: Type.String() }, { title: 'ArtifactDownload' })
