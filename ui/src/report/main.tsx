/**
 * The report page: reads the data that the binary put into the file and draws it.
 *
 * Invariant: no request leaves this page.
 */
import "../theme.css";
import { startTheme } from "../theme";

startTheme();
