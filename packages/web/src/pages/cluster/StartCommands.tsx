import { useQuery } from '@tanstack/react-query'
import { CopyBlock } from '../../parts/Copy.tsx'
import { agentDownloadQuery, type AgentDownload } from './queries.ts'

/** The commands that start an agent with a token. Without a queue, the agent serves the default one. */
export function StartCommands({ token, queue }: { token: string; queue: string }) {
  const download = useQuery(agentDownloadQuery)
  return (
    <>
      <p>Run one of these on the machine that is to do the work. The token is shown only now.</p>
      {download.error !== null && <p role="alert">{download.error.message}</p>}
      <CopyBlock text={commandOf('buildkite-agent', token, queue)} label="command for buildkite-agent" />
      {download.data !== undefined && (
        <>
          <CopyBlock
            text={commandOf(`npx --yes ${addressOf(download.data)} agent`, token, queue)}
            label="command for our own runner"
          />
          <p>
            Our own runner comes from this server and needs Node. To check it first, download{' '}
            <a href={addressOf(download.data)}>{download.data.file}</a> and compare its SHA-256:
          </p>
          <CopyBlock text={download.data.sha256} label="checksum" />
        </>
      )}
    </>
  )
}

const addressOf = ({ file }: AgentDownload) => `${window.location.origin}/downloads/${file}`

function commandOf(program: string, token: string, queue: string): string {
  const tags =
    queue === '' ? '' : program === 'buildkite-agent' ? ` --tags queue=${queue}` : ` --queue ${queue}`
  return `${program} start --token ${token} --endpoint ${window.location.origin}/v3${tags}`
}
