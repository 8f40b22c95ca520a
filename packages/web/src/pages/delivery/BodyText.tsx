import styles from './delivery.module.css'

/** A body as it was sent. JSON is indented. */
export const BodyText = ({ label, text }: { label: string; text: string }) => (
  <pre
    className={styles.body}
    role="region"
    aria-label={label}
    // Whoever has no mouse scrolls with the keys.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    tabIndex={0}
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
