import { TextArea } from '../../parts/Field.tsx'
import styles from './PolicyField.module.css'

interface Props {
  value: string
  problem?: string | undefined
  onValue: (value: string) => void
}

const example = `- pipeline_slug: deploy
  build_branch: [main, release]
- build_creator: ada@example.com
`

const claims: ReadonlyArray<readonly [string, string]> = [
  ['pipeline_slug', 'the last word of the pipeline’s address'],
  ['pipeline_id', 'its id'],
  ['build_branch', 'the branch'],
  ['build_source', 'ui, api, webhook, schedule or trigger_job'],
  ['build_creator', 'the email address of who made the build'],
  ['build_creator_team', 'the id of one of their teams'],
  ['cluster_queue_key', 'the queue'],
  ['cluster_queue_id', 'its id'],
]

/** Which jobs may read a secret, with all that a policy can say. */
export const PolicyField = ({ value, problem, onValue }: Props) => (
  <div>
    <TextArea
      label="Policy"
      value={value}
      rows={5}
      placeholder={example}
      spellCheck={false}
      problem={problem}
      hint="A list of rules in YAML. A job that meets every line of one rule may read the secret. Empty: every job of the cluster."
      onValue={onValue}
    />
    <details className={styles.help}>
      <summary>What a policy can say</summary>
      <dl className={styles.claims}>
        {claims.map(([name, meaning]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        A line has one text or a list of them. These two rules allow builds of two branches of the pipeline
        deploy, and whatever Ada builds:
      </p>
      <pre>{example}</pre>
    </details>
  </div>
)
