import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { BuildAddress } from '../../api/addresses.ts'
import type { Schemas } from '../../api/operations.ts'
import { Copy } from '../../parts/Copy.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { BuildDuration } from '../builds/BuildDuration.tsx'
import { makerOf, personOf } from '../builds/build-facts.ts'
import { showMoney } from '../insights/words.ts'
import { newestBuildQuery } from './queries.ts'
import { WholeMessage } from './WholeMessage.tsx'
import styles from './BuildFacts.module.css'

type Build = Schemas['Build']

const sources: Record<Build['source'], string> = {
  webhook: 'by push',
  api: 'through the API',
  ui: 'by hand',
  trigger_job: 'by a trigger',
  schedule: 'by schedule',
}

export function BuildFacts({ address, build }: { address: BuildAddress; build: Build }) {
  const who = personOf(build)
  const maker = makerOf(build)
  return (
    <div className={styles.facts}>
      <span className={styles.number}>#{build.number}</span>
      <span className={styles.fact} title={build.branch}>
        <Icon name={build.tag === null ? 'git-branch' : 'tag'} size={14} />
        <span className={`truncated ${styles.text}`}>{build.tag ?? build.branch}</span>
      </span>
      <span className={styles.fact}>
        <Icon name="git-commit-horizontal" size={14} />
        <code title={build.commit}>{shortCommit(build.commit)}</code>
        <Copy text={build.commit} label="commit" />
      </span>
      <PullRequest build={build} />
      <span className={styles.fact} title={maker === null ? undefined : `Made by ${maker}`}>
        {who && <span className={`truncated ${styles.text}`}>{who}</span>}{' '}
        {build.trigger_name === undefined ? sources[build.source] : `by the trigger ${build.trigger_name}`}
      </span>
      <FoundBy build={build} />
      <Origin address={address} build={build} />
      <span>
        <BuildDuration build={build} />
      </span>
      {build.cost !== undefined && (
        <Link
          to="/organizations/$org/insights"
          params={{ org: address.org }}
          search={{ group: 'step', pipeline: address.pipeline }}
          title="What its jobs have cost that have ended"
        >
          {showMoney(build.cost.amount, build.cost.currency)}
        </Link>
      )}
      <Time at={build.created_at} />
      <WholeMessage message={build.message} />
      <Neighbours address={address} build={build} />
    </div>
  )
}

const foundBySentences: Readonly<Partial<Record<NonNullable<Build['found_by']>, string>>> = {
  poll: 'Found by a poll of the repository.',
  reconcile: 'Found in the repository: no webhook came for this push.',
}

function FoundBy({ build: { found_by: foundBy } }: { build: Build }) {
  const sentence = foundBy === undefined ? undefined : foundBySentences[foundBy]
  return sentence === undefined ? null : <span className={`truncated ${styles.text}`}>{sentence}</span>
}

const shortCommit = (commit: string) => (/^[0-9a-f]{12,}$/i.test(commit) ? commit.slice(0, 7) : commit)

function PullRequest({ build: { pull_request: request } }: { build: Build }) {
  if (request === null) return null
  const text = `Pull request ${request.id}${request.base === null ? '' : ` into ${request.base}`}`
  const [, repository] =
    /^(?:git@github\.com:|(?:https|git|ssh):\/\/(?:git@)?github\.com\/)(.+?)(?:\.git)?$/.exec(
      request.repository ?? '',
    ) ?? []
  if (repository === undefined) return <span className={`truncated ${styles.text}`}>{text}</span>
  return (
    <a
      href={`https://github.com/${repository}/pull/${encodeURIComponent(request.id)}`}
      rel="noopener noreferrer"
    >
      {text}
    </a>
  )
}

function Origin({ address: { org, pipeline }, build }: { address: BuildAddress; build: Build }) {
  const { rebuilt_from: rebuilt, triggered_from: triggered } = build
  const to = '/$org/$pipeline/builds/$number'
  if (triggered !== null) {
    const { build_pipeline_slug: slug, build_number: number } = triggered
    return (
      <Link
        to={to}
        params={{ org, pipeline: slug, number: String(number) }}
        className={`truncated ${styles.text}`}
      >
        from {slug} #{number}
      </Link>
    )
  }
  if (rebuilt === null) return null
  return (
    <Link to={to} params={{ org, pipeline, number: String(rebuilt.number) }}>
      rebuild of #{rebuilt.number}
    </Link>
  )
}

function Neighbours({ address, build: { number } }: { address: BuildAddress; build: Build }) {
  const last = useNewestNumber(address)
  const link = (target: number, label: string, text: string) => (
    <Link
      to="/$org/$pipeline/builds/$number"
      params={{ org: address.org, pipeline: address.pipeline, number: String(target) }}
      aria-label={`${label} build, #${target}`}
      className={styles.neighbour}
    >
      {text}
    </Link>
  )
  return (
    <nav aria-label="Builds before and after" className={styles.neighbours}>
      {number > 1 && link(number - 1, 'Previous', `‹ #${number - 1}`)}
      {number < last && link(number + 1, 'Next', `#${number + 1} ›`)}
    </nav>
  )
}

export function useNewestNumber(address: BuildAddress): number {
  const { data } = useQuery(newestBuildQuery(address))
  return data?.[0]?.number ?? 0
}
