// What a page shows instead of its content: waiting, refused, failed, empty.
import { useContext, useEffect, useState, type ReactNode } from 'react'
import { ApiFailure } from '../api/call.ts'
import { Button, LinkButton } from './Button.tsx'
import { Icon } from './Icon.tsx'
import { InPage, useTabTitle } from './page-title.ts'
import type { IconName } from './icon-names.ts'
import styles from './States.module.css'

const skeletonAfterMs = 200
const longAfterMs = 10_000

interface LoadingProps {
  rows?: number
  look?: 'lines' | 'list'
  /** Why it takes longer. */
  note?: string | undefined
}

/** With `list`, it has the frame and the rows of the list that comes. Appears after 200 ms, and says so when it takes long. */
export function Loading({ rows = 8, look = 'lines', note }: LoadingProps) {
  const isDue = useLater(skeletonAfterMs)
  const isLong = useLater(longAfterMs)
  if (!isDue) return null
  return (
    <div role="status" aria-label="Loading">
      <div className={look === 'list' ? `card ${styles.list}` : undefined}>
        {Array.from({ length: rows }, (_, index) => (
          <div key={index} className={styles.skeleton} />
        ))}
      </div>
      {note !== undefined && <p className={styles.note}>{note}</p>}
      {note === undefined && isLong && <p className={styles.note}>Still waiting for the server…</p>}
    </div>
  )
}

function useLater(afterMs: number): boolean {
  const [isDue, setDue] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), afterMs)
    return () => clearTimeout(timer)
  }, [afterMs])
  return isDue
}

interface Query {
  error: Error | null
  /** Of the last try, while it is tried again. */
  failureReason: Error | null
  /** How often it has failed for good. A query that asks anew has no `error` meanwhile. */
  errorUpdateCount: number
  refetch: () => unknown
}

/** What was shown is deleted, or no longer the person's to see. After other failures a page keeps what it has. */
export const isGone = (error: Error | null): boolean =>
  error instanceof ApiFailure && (error.status === 403 || error.status === 404)

/** Instead of what a query has not brought. What went wrong stays until it is there, also while it is asked for again. */
export function NotLoaded({ query, rows }: { query: Query; rows?: number }) {
  const failure = query.error ?? query.failureReason
  const [last, setLast] = useState(failure)
  if (failure !== null && failure !== last) setLast(failure)
  const hasFailed = query.error !== null || query.errorUpdateCount > 0
  if (last !== null && hasFailed) return <Problem error={last} onRetry={() => void query.refetch()} />
  const note = failure === null ? undefined : `${failure.message} Trying again…`
  return <Loading {...(rows === undefined ? {} : { rows })} note={note} />
}

interface List {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

export const ShowMore = ({ list }: { list: List }) =>
  list.hasNextPage && (
    <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      Show more
    </Button>
  )

/** The rest of the page stays. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const failure = error instanceof ApiFailure ? error : null
  if (failure?.status === 404) return <Missing what={resourceOf(failure)} />
  if (failure?.status === 403)
    return <Denied>{failure.message} An administrator of the organization can give you the right.</Denied>
  return (
    <section role="alert" className={`card ${styles.state}`}>
      <Icon name="circle-alert" size={24} />
      <h2>{failure?.message ?? 'This part of the page failed.'}</h2>
      <p className={styles.note}>
        {failure?.requestId === null || failure === null ? '' : `Request ${failure.requestId}. `}
        {failure !== null && !failure.isSafeToRepeat
          ? 'It may have been carried out: look before you try again.'
          : 'Trying again is safe.'}
      </p>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </section>
  )
}

/** The API says "No cluster found". */
const resourceOf = ({ message }: ApiFailure) => `This ${/^No (.+) found$/.exec(message)?.[1] ?? 'page'}`

export const Missing = ({ what }: { what: string }) => (
  <Whole icon="map-pin" title={`${what} is not there, or not yours to see.`}>
    It may have been deleted or renamed, or you may need to be given access by an administrator of the
    organization.
  </Whole>
)

interface DeniedProps {
  title?: string
  /** Which right is needed, and who gives it. */
  children: ReactNode
}

export const Denied = ({ title = 'You may not see this.', children }: DeniedProps) => (
  <Whole icon="lock" title={title}>
    {children}
  </Whole>
)

/** Stands for a whole page, or for a part of one. A whole page has a heading, and leads on. */
function Whole({ icon, title, children }: { icon: IconName; title: string; children: ReactNode }) {
  const isPart = useContext(InPage)
  return (
    <section className={`card ${styles.state}`}>
      <Icon name={icon} size={24} />
      {isPart ? <h2>{title}</h2> : <PageHeading title={title} />}
      <p className={styles.note}>{children}</p>
      {!isPart && <LinkButton to="/-/start">Go to the pipelines</LinkButton>}
    </section>
  )
}

function PageHeading({ title }: { title: string }) {
  useTabTitle(title)
  return <h1 className={styles.title}>{title}</h1>
}

interface EmptyProps {
  title: string
  children?: ReactNode
  action?: ReactNode
}

/** What belongs here, and one action. */
export const Empty = ({ title, children, action }: EmptyProps) => (
  <section className={`card ${styles.state}`}>
    <h2>{title}</h2>
    {children !== undefined && <p className={styles.note}>{children}</p>}
    {action}
  </section>
)
