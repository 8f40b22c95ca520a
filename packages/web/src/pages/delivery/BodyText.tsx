import styles from './delivery.module.css'

/** A body as it was sent. JSON is indented. */
export const BodyText = ({ label, text }: { label: string; text: string }) => (
  <pre
    className={styles.body}
    // The keyboard scrolls it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    tabIndex={0}
    role="region"
    aria-label={label}
  >
    {indented(text)}
  </pre>
)

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
