/** The live lab's entry; its pages are in this folder. */
import "../theme.css";
import { startTheme } from "../theme";

startTheme();
