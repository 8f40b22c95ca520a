import { Icon } from '../../parts/Icon.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import { Time } from '../../parts/time/Time.tsx'
import type { Attempt } from '../services/queries.ts'
import { BodyText } from './BodyText.tsx'
import styles from './delivery.module.css'

/** What was sent in one attempt, beside what was answered. */
export const AttemptView = ({ attempt }: { attempt: Attempt }) => (
  <section className={styles.attempt} aria-label={`Attempt ${attempt.number}`}>
    <SectionHead title={`Attempt ${attempt.number}`}>
      <span className="muted">
        <Time at={attempt.started_at} />, {attempt.duration_ms} ms
      </span>
    </SectionHead>
    <p className={`${styles.outcome} ${toneClass(attempt.error === null ? 'passed' : 'failed')}`}>
      <Icon name={attempt.error === null ? 'circle-check' : 'circle-x'} size={14} />
      {attempt.error ?? 'It arrived.'}
    </p>
    {namedExchanges(attempt).map(([name, exchange]) => (
      <ExchangeView key={name} exchange={exchange} name={name} />
    ))}
  </section>
)

type Exchange = Attempt['exchanges'][number]

/** They have no ids, and their order stays. */
const namedExchanges = ({ number, exchanges }: Attempt): Array<[name: string, exchange: Exchange]> =>
  exchanges.map((exchange, index) => [`${index + 1} of attempt ${number}`, exchange])

const ExchangeView = ({ exchange, name }: { exchange: Exchange; name: string }) => {
  const { request, response } = exchange
  return (
    <div className={styles.exchange}>
      <div className={`card ${styles.side}`}>
        <h3>Request</h3>
        <code className={styles.line}>
          {request.method} {request.url}
        </code>
        <Headers headers={request.headers} />
        <p className="muted">{request.body_bytes} bytes of body</p>
      </div>
      <div className={`card ${styles.side}`}>
        <h3>Answer</h3>
        {response === null ? (
          <p className="muted">There was none.</p>
        ) : (
          <>
            <code className={styles.line}>{response.status}</code>
            <Headers headers={response.headers} />
            {response.body !== '' && <BodyText label={`Answer ${name}`} text={response.body} />}
            {response.is_cut && <p className="muted">There was more of it.</p>}
          </>
        )}
      </div>
    </div>
  )
}

const Headers = ({ headers }: { headers: Record<string, string> }) => (
  <ul className={styles.headers}>
    {Object.entries(headers).map(([name, value]) => (
      <li key={name}>
        <span className="muted">{name}:</span> {value}
      </li>
    ))}
  </ul>
)
