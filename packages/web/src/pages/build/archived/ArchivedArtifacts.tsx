import type { Schemas } from '../../../api/operations.ts'
import { Table } from '../../../parts/Table.tsx'
import { formatSize } from '../tabs/sizes.ts'
import { linkOf } from './read-archive.ts'

export const ArchivedArtifacts = ({
  artifacts,
}: {
  artifacts: Schemas['ArchivedBuildDocument']['artifacts']
}) => (
  <Table
    label="Artifacts"
    rows={artifacts}
    columns={[
      {
        head: 'Path',
        titleOf: ({ path }) => path,
        render: (artifact) => {
          const link = linkOf(artifact)
          return link === null ? (
            artifact.path
          ) : (
            <a href={link} rel="noopener noreferrer nofollow">
              {artifact.path}
            </a>
          )
        },
      },
      { head: 'Type', look: 'aside', render: ({ mime_type: type }) => type },
      { head: 'Size', look: 'number', render: ({ file_size: size }) => formatSize(size) },
      {
        head: 'File',
        look: 'muted',
        render: (artifact) => (linkOf(artifact) === null ? 'not kept' : 'in its own store'),
      },
    ]}
  />
)
